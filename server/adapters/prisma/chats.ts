import { type Chat, ChatError, type ChatPatch } from '../../../protocol/index.js';
import type { ChatFilter, ChatPage, ChatTimeField } from '../../ports/store.js';
import type { Database } from './database.js';
import type { AgentChatUpdateInput } from './generated/sqlite/models.js';
import { jsonIn, jsonPatch } from './json-columns.js';
import { CHAT_COLUMNS, type ChatRow, chatOf } from './rows.js';
import type { Sql, SqlValue } from './sql.js';
import { contains, timeIn, unindexed } from './dialect.js';
import type { Owner } from './tables.js';
import { foldTitle } from './title-search.js';

const folded = (title: string | null): string | null => (title === null ? null : foldTitle(title));

export async function createChat(database: Database, { lastMessageAt, metadata, ...chat }: Chat): Promise<void> {
  const data = {
    ...chat,
    titleSearch: folded(chat.title),
    lastMessageAt,
    activityAt: lastMessageAt ?? chat.createdAt,
    lastSequence: 0,
    metadata: jsonIn(metadata),
  };
  await database.write((client) => client.agentChat.create({ data, select: { id: true } }));
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
    ...(patch.title === undefined ? {} : { titleSearch: folded(patch.title) }),
    metadata: jsonPatch(metadata),
    updatedAt: at,
  } as AgentChatUpdateInput;
  return chatOf(
    await database.write((client) => client.agentChat.update({ where: { chatId, deletedAt: null }, data })),
  );
}

/** Rows that one statement of a deletion marks. */
const DELETE_CHUNK = 500;

export async function deleteChat(database: Database, chatId: string, at: string): Promise<void> {
  const time = timeIn(at);
  await database.transaction(async (sql) => {
    const found = await sql.query('SELECT last_sequence FROM agent_chat WHERE chat_id = ? AND deleted_at IS NULL', [
      chatId,
    ]);
    if (!found[0]) throw new ChatError('not_found');
    await sql.run('UPDATE agent_chat SET deleted_at = ?, updated_at = ? WHERE chat_id = ?', [time, time, chatId]);
    for (let from = 0; from <= Number(found[0].last_sequence); from += DELETE_CHUNK) {
      await sql.run(
        'UPDATE agent_message SET deleted_at = ? WHERE chat_id = ? AND sequence >= ? AND sequence < ? AND deleted_at IS NULL',
        [time, chatId, from, from + DELETE_CHUNK],
      );
    }
    for (const table of ['agent_turn', 'agent_step']) {
      const chunk = `SELECT id FROM ${table} WHERE chat_id = ? AND deleted_at IS NULL LIMIT ${DELETE_CHUNK}`;
      while (
        (await sql.run(`UPDATE ${table} SET deleted_at = ? WHERE id IN (${chunk})`, [time, chatId])) === DELETE_CHUNK
      );
    }
  });
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
  const { where, args } = conditionsOf(filter);
  const direction = filter.order === 'asc' ? 'ASC' : 'DESC';
  const order = `${TIME_COLUMNS[filter.orderBy ?? 'lastMessageAt']} ${direction}, chat_id ${direction}`;
  return database.read(async (client) => {
    const rows = await client.$queryRawUnsafe<ChatRow[]>(
      `SELECT ${CHAT_COLUMNS} FROM agent_chat WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
      ...args,
      pageSize,
      (page - 1) * pageSize,
    );
    const counted = await client.$queryRawUnsafe<[{ total: bigint | number }]>(
      `SELECT count(*) AS total FROM agent_chat WHERE ${where}`,
      ...args,
    );
    const total = Number(counted[0].total);
    return { data: rows.map(chatOf), page, pageSize, pageCount: Math.max(1, Math.ceil(total / pageSize)), total };
  });
}

function conditionsOf(filter: ChatFilter): { where: string; args: SqlValue[] } {
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
  if (filter.assistantId !== undefined) add(`${unindexed('assistant_id')} = ?`, filter.assistantId);
  if (filter.status !== undefined) add(`${unindexed('status')} = ?`, filter.status);
  const keywords = foldTitle(filter.keywords ?? '');
  if (keywords !== '') add(contains('title_search'), keywords);

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
