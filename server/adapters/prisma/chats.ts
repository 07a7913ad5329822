import { type Chat, ChatError, type ChatPatch } from '../../../protocol/index.js';
import type { ChatFilter, ChatOwner, ChatPage, ChatTimeField } from '../../ports/store.js';
import type { Database } from './database.js';
import type { AgentChatUpdateInput } from './generated/sqlite/models.js';
import { jsonPatch } from './json-columns.js';
import { CHAT_COLUMNS, type ChatRow, chatOf } from './rows.js';
import type { Sql, SqlRow, SqlValue } from './sql.js';
import { type Dialect, timeIn } from './dialect.js';
import { insertChat, titleSearchOf, type Owner } from './tables.js';
import { foldTitle } from './title-search.js';

export async function createChat(database: Database, chat: Chat): Promise<void> {
  await database.transaction([chat.chatId], (sql) => insertChat.run(sql, chat));
}

export async function getChat(database: Database, chatId: string): Promise<Chat | null> {
  const row = await database.read((client) => client.agentChat.findFirst({ where: { chatId, deletedAt: null } }));
  return row && chatOf(row);
}

export async function isChatIdTaken(database: Database, chatId: string): Promise<boolean> {
  const row = await database.read((client) => client.agentChat.findFirst({ where: { chatId }, select: { id: true } }));
  return row !== null;
}

export async function updateChat(
  database: Database,
  chatId: string,
  { metadata, ...patch }: ChatPatch & { updatedBy?: string },
  at: string,
): Promise<Chat> {
  const data = {
    ...patch,
    ...(patch.title === undefined ? {} : { titleSearch: titleSearchOf(patch.title) }),
    metadata: jsonPatch(metadata),
    updatedAt: at,
  } as AgentChatUpdateInput;
  return chatOf(
    await database.writeIn(
      () => Promise.resolve(chatId),
      (client) => client.agentChat.update({ where: { chatId, deletedAt: null }, data }),
    ),
  );
}

export async function deleteChat(database: Database, chatId: string, at: string): Promise<void> {
  await database.transaction([chatId], async (sql) => {
    const changed = await sql.run(
      'UPDATE agent_chat SET deleted_at = ?, updated_at = ? WHERE chat_id = ? AND deleted_at IS NULL',
      [timeIn(at), timeIn(at), chatId],
    );
    if (changed === 0) throw new ChatError('not_found');
    await markMessages(sql, chatId, timeIn(at));
    await markRows(sql, 'agent_turn', chatId, timeIn(at));
    await markRows(sql, 'agent_step', chatId, timeIn(at));
  });
}

/** Rows that a deletion looks up at a time. It marks them one by one: each is written anew, and may hold megabytes. */
const DELETE_CHUNK = 500;

async function markMessages(sql: Sql, chatId: string, time: string): Promise<void> {
  const next =
    'SELECT id, sequence FROM agent_message WHERE chat_id = ? AND sequence > ? AND deleted_at IS NULL ' +
    `ORDER BY sequence LIMIT ${DELETE_CHUNK}`;
  for (let rows = await sql.query(next, [chatId, 0]); ;) {
    await mark(sql, 'agent_message', rows, time);
    const last = rows.at(-1);
    if (!last || rows.length < DELETE_CHUNK) return;
    rows = await sql.query(next, [chatId, last.sequence as number]);
  }
}

/** For tables whose index holds the mark: what has been marked is not found again. */
async function markRows(sql: Sql, table: 'agent_turn' | 'agent_step', chatId: string, time: string): Promise<void> {
  const next = `SELECT id FROM ${table} WHERE chat_id = ? AND deleted_at IS NULL LIMIT ${DELETE_CHUNK}`;
  for (let count = DELETE_CHUNK; count === DELETE_CHUNK;) {
    const rows = await sql.query(next, [chatId]);
    await mark(sql, table, rows, time);
    count = rows.length;
  }
}

async function mark(sql: Sql, table: string, rows: readonly SqlRow[], time: string): Promise<void> {
  for (const { id } of rows) await sql.run(`UPDATE ${table} SET deleted_at = ? WHERE id = ?`, [time, id as number]);
}

/** One more than the highest sequence that was ever given in the chat. */
export async function nextSequence(database: Database, chatId: string): Promise<number> {
  const row = await database.read((client) =>
    client.agentChat.findFirst({ where: { chatId }, select: { lastSequence: true } }),
  );
  return (row?.lastSequence ?? 0) + 1;
}

/** Whose a row of this chat is. @throws {ChatError} not_found for a chat that is not there or deleted */
export async function ownerIn(sql: Sql, chatId: string): Promise<Owner> {
  const [row] = await sql.query(
    'SELECT created_by, team_id, tenant_id FROM agent_chat WHERE chat_id = ? AND deleted_at IS NULL',
    [chatId],
  );
  if (!row) throw new ChatError('not_found');
  return {
    createdBy: row.created_by as string,
    teamId: row.team_id as string | null,
    tenantId: row.tenant_id as string | null,
  };
}

// The list ------------------------------------------------------------------------------------------------------------

/** A chat without a message counts as active when it was made. */
const TIME_COLUMNS: Record<ChatTimeField, string> = {
  lastMessageAt: 'activity_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

export async function listChats(database: Database, filter: ChatFilter): Promise<ChatPage> {
  const { page, pageSize } = filter;
  const { where, args } = conditionsOf(filter, database.dialect);
  const direction = filter.order === 'asc' ? 'ASC' : 'DESC';
  const time = TIME_COLUMNS[filter.orderBy ?? 'lastMessageAt'];
  // One tenant, which comes first in each index: PostgreSQL does not see that IS NULL makes it one, and would sort what it
  // could read in order. Several scopes are several look-ups, and sorted anyway.
  const columns = filter.anyOf.length === 1 ? ['tenant_id', time, 'chat_id'] : [time, 'chat_id'];
  const order = columns.map((column) => `${column} ${direction}`).join(', ');
  return database.read(async (_client, select) => {
    const rows = await select<ChatRow>(
      `SELECT ${CHAT_COLUMNS} FROM agent_chat WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
      [...args, pageSize, (page - 1) * pageSize],
    );
    const total = totalOf(await select(`SELECT count(*) AS total FROM agent_chat WHERE ${where}`, args));
    return { data: rows.map(chatOf), page, pageSize, pageCount: Math.max(1, Math.ceil(total / pageSize)), total };
  });
}

/** Prisma's own `count` with a bound sorts all that it counts. */
export async function countChats(
  database: Database,
  { tenantId, createdBy }: ChatOwner,
  atMost: number,
): Promise<number> {
  const [where, values] = scopeOf({ createdBy }, tenantId);
  return totalOf(
    await database.read((_client, select) =>
      select(
        `SELECT count(*) AS total FROM (SELECT 1 FROM agent_chat WHERE ${where} AND deleted_at IS NULL LIMIT ?) AS counted`,
        [...values, atMost],
      ),
    ),
  );
}

const totalOf = ([counted]: readonly { total: bigint | number }[]): number => Number(counted?.total);

function conditionsOf(filter: ChatFilter, dialect: Dialect): { where: string; args: SqlValue[] } {
  const where: string[] = [];
  const args: SqlValue[] = [];
  const add = (condition: string, ...values: SqlValue[]): void => {
    where.push(condition);
    args.push(...values);
  };

  const scopes = filter.anyOf.map((scope) => scopeOf(scope, filter.tenantId));
  // No scope is nobody's chats, not everybody's.
  add(`(${scopes.map(([condition]) => condition).join(' OR ') || '1 = 0'})`, ...scopes.flatMap(([, values]) => values));
  add('deleted_at IS NULL');
  if (filter.createdBy !== undefined) add(`${dialect.unindexed('created_by')} = ?`, filter.createdBy);
  if (filter.teamId !== undefined) add(`${dialect.unindexed('team_id')} = ?`, filter.teamId);
  if (filter.assistantId !== undefined) add(`${dialect.unindexed('assistant_id')} = ?`, filter.assistantId);
  if (filter.status !== undefined) add(`${dialect.unindexed('status')} = ?`, filter.status);
  const keywords = foldTitle(filter.keywords ?? '');
  if (keywords !== '') add(dialect.contains('title_search'), keywords);

  const field = TIME_COLUMNS[filter.timeField ?? 'lastMessageAt'];
  if (filter.startTime !== undefined) add(`${field} >= ?`, instant(filter.startTime));
  if (filter.endTime !== undefined) add(`${field} <= ?`, instant(filter.endTime));
  return { where: where.join(' AND '), args };
}

/** Each scope names the tenant itself, so that several are several look-ups and not a walk through the tenant. */
function scopeOf(scope: ChatFilter['anyOf'][number], tenantId: string | null): [string, SqlValue[]] {
  const [tenant, values] = tenantId === null ? ['tenant_id IS NULL', []] : ['tenant_id = ?', [tenantId]];
  if ('createdBy' in scope) return [`(${tenant} AND created_by = ?)`, [...values, scope.createdBy]];
  if ('teamId' in scope) return [`(${tenant} AND team_id = ? AND share = 'team')`, [...values, scope.teamId]];
  if ('public' in scope) return [`(${tenant} AND public = ?)`, [...values, 1]];
  return [`(${tenant})`, values];
}

/** Bounds come in any form of ISO 8601, and are compared as moments. */
const instant = (time: string): string => timeIn(new Date(time).toISOString());
