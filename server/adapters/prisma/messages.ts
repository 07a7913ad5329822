import type { JsonObject, Message } from '../../../protocol/index.js';
import type { MessagePatch, MessageQuery } from '../../ports/store.js';
import { activityOf, raiseActivity } from './activity.js';
import { ownerIn } from './chats.js';
import type { Database } from './database.js';
import type { Dialect } from './dialect.js';
import type { Prisma, PrismaClient } from './generated/sqlite/client.js';
import type { AgentMessageUpdateInput } from './generated/sqlite/models.js';
import { jsonPatch } from './json-columns.js';
import { MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.js';
import type { SqlValue } from './sql.js';
import * as tables from './tables.js';

/** Messages that one statement reads: a list of any length never holds the event loop at a stretch. */
const READ_CHUNK = 250;
/** Bytes of props and metadata from which on a message is read by itself, for the same reason. */
const LARGE_BYTES = 16 * 1024;

function pageColumns({ octets }: Dialect): string {
  const isSmall = `${octets('props')} + ${octets('metadata')} <= ${LARGE_BYTES}`;
  return (
    `${MESSAGE_COLUMNS}, CASE WHEN ${isSmall} THEN props END AS props, ` +
    `CASE WHEN ${isSmall} THEN metadata END AS metadata`
  );
}

type PageRow = Omit<MessageRow, 'props' | 'metadata'> & { readonly props: unknown; readonly metadata: unknown };

export async function getMessages(database: Database, chatId: string, query: MessageQuery): Promise<Message[]> {
  const fromOldest = query.after !== undefined || query.offset !== undefined || query.limit === undefined;
  const [direction, beyond] = fromOldest ? ['ASC', '>'] : ['DESC', '<'];
  const limit = query.limit ?? Infinity;
  const { where, args } = conditionsOf(chatId, query);
  const columns = pageColumns(database.dialect);
  return database.read(async (client, select) => {
    const messages: Message[] = [];
    let more = where;
    let moreArgs = args;
    while (messages.length < limit) {
      const take = Math.min(READ_CHUNK, limit - messages.length);
      const skip = messages.length === 0 ? (query.offset ?? 0) : 0;
      const rows = await select<PageRow>(
        `SELECT ${columns} FROM agent_message WHERE ${more} ORDER BY sequence ${direction} LIMIT ? OFFSET ?`,
        [...moreArgs, take, skip],
      );
      for (const row of rows) {
        messages.push(messageOf(row.props === null ? await largeRow(client, row) : smallRow(row)));
      }
      const last = rows.at(-1);
      if (!last || rows.length < take) break;
      more = `${where} AND sequence ${beyond} ?`;
      moreArgs = [...args, last.sequence];
    }
    return fromOldest ? messages : messages.reverse();
  });
}

function largeRow(client: PrismaClient, { messageId }: PageRow): Promise<MessageRow> {
  return client.agentMessage.findFirstOrThrow({ where: { messageId } });
}

/** What an expression gives has no declared type, so that the client leaves JSON as text. */
function smallRow(row: PageRow): MessageRow {
  return { ...row, props: parsed(row.props), metadata: row.metadata === null ? null : parsed(row.metadata) };
}

const parsed = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) as Prisma.JsonValue;

function conditionsOf(chatId: string, query: MessageQuery): { where: string; args: SqlValue[] } {
  const where = ['chat_id = ?', 'deleted_at IS NULL'];
  const args: SqlValue[] = [chatId];
  const add = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return;
    where.push(condition);
    args.push(value);
  };
  add('request_id = ?', query.requestId);
  add('role = ?', query.role);
  add('block_id = ?', query.blockId);
  add('thread_id = ?', query.threadId);
  add('type = ?', query.type);
  add('sequence < ?', query.before);
  add('sequence > ?', query.after);
  return { where: where.join(' AND '), args };
}

export async function getMessage(database: Database, messageId: string): Promise<Message | null> {
  const row = await database.read((client) => client.agentMessage.findFirst({ where: { messageId, deletedAt: null } }));
  return row && messageOf(row);
}

export async function takenMessageIds(database: Database, messageIds: readonly string[]): Promise<string[]> {
  return database.read(async (client) => {
    const taken: string[] = [];
    for (let from = 0; from < messageIds.length; from += READ_CHUNK) {
      const where = { messageId: { in: messageIds.slice(from, from + READ_CHUNK) } };
      const rows = await client.agentMessage.findMany({ where, select: { messageId: true } });
      taken.push(...rows.map(({ messageId }) => messageId));
    }
    return taken;
  });
}

export async function updateMessage(
  database: Database,
  messageId: string,
  { props, metadata, ...patch }: MessagePatch,
  at: string,
): Promise<Message> {
  const data = {
    ...patch,
    props: props as (JsonObject & Prisma.InputJsonObject) | undefined,
    metadata: jsonPatch(metadata),
    updatedAt: at,
  } as AgentMessageUpdateInput;
  return messageOf(
    await database.writeIn(
      async (client) =>
        (await client.agentMessage.findFirst({ where: { messageId }, select: { chatId: true } }))?.chatId,
      (client) => client.agentMessage.update({ where: { messageId, deletedAt: null }, data }),
    ),
  );
}

/** @throws {ChatError} not_found for a chat that is not there; conflict for an id or a sequence of another message */
export async function saveMessages(database: Database, chatId: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  await database.transaction([chatId], async (sql) => {
    const owner = await ownerIn(sql, chatId);
    await sql.each(messages, (message) => tables.upsertMessage.run(sql, { message: { ...message, chatId }, owner }));
    const at = messages.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), '');
    await raiseActivity.run(sql, activityOf(chatId, messages, at));
  });
}

export async function deleteMessages(
  database: Database,
  chatId: string,
  messageIds: readonly string[],
  at: string,
): Promise<string[]> {
  if (messageIds.length === 0) return [];
  return database.transaction([chatId], async (sql) => {
    const deleted: string[] = [];
    for (const messageId of messageIds) {
      if (await tables.deleteMessage.run(sql, { messageId, chatId, at })) deleted.push(messageId);
    }
    return deleted;
  });
}
