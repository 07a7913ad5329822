import { ChatError } from '../../../protocol/index.js';
import type { TurnQuery, TurnRecord } from '../../ports/store.js';
import type { Database } from './database.js';
import { turnRecordOf } from './rows.js';

export async function getTurn(database: Database, requestId: string): Promise<TurnRecord | null> {
  const row = await database.read((client) => client.agentTurn.findFirst({ where: { requestId, deletedAt: null } }));
  return row && turnRecordOf(row);
}

/** Ids that one statement asks for: the client splits longer lists itself, and opens a transaction to do so. */
const READ_CHUNK = 250;

export async function getTurns(database: Database, requestIds: readonly string[]): Promise<TurnRecord[]> {
  const records: TurnRecord[] = [];
  if (requestIds.length === 0) return records;
  await database.read(async (client) => {
    for (let from = 0; from < requestIds.length; from += READ_CHUNK) {
      const asked = requestIds.slice(from, from + READ_CHUNK);
      const rows = await client.agentTurn.findMany({ where: { requestId: { in: asked }, deletedAt: null } });
      for (const row of rows) records.push(turnRecordOf(row));
    }
  });
  return records;
}

/** Newest first is by row id: a chat has one writer, so its turns are begun, and stored, one after the other. */
export async function listTurns(database: Database, chatId: string, query: TurnQuery): Promise<TurnRecord[]> {
  const { before, limit, incomplete } = query;
  return database.read(async (client) => {
    let bound: { id: { lt: number } } | undefined;
    if (before !== undefined) {
      const row = await client.agentTurn.findFirst({ where: { requestId: before, chatId }, select: { id: true } });
      if (!row) throw new ChatError('not_found', undefined, { details: { path: 'before' } });
      bound = { id: { lt: row.id } };
    }
    const rows = await client.agentTurn.findMany({
      where: {
        chatId,
        deletedAt: null,
        ...bound,
        ...(incomplete ? { status: { in: ['interrupted', 'failed'] } } : {}),
      },
      // None is deleted. PostgreSQL does not see that they are in order then, and would walk through the turns of all chats.
      orderBy: [{ deletedAt: 'desc' }, { id: 'desc' }],
      take: limit,
    });
    return rows.map(turnRecordOf);
  });
}

export async function queuedTurns(database: Database, chatId?: string): Promise<TurnRecord[]> {
  const where = { status: 'queued' as const, deletedAt: null, ...(chatId === undefined ? {} : { chatId }) };
  const rows = await database.read((client) => client.agentTurn.findMany({ where, orderBy: { id: 'asc' } }));
  // Sorted here: the index gives them by id.
  return rows.toSorted((a, b) => a.updatedAt.getTime() - b.updatedAt.getTime()).map(turnRecordOf);
}

export async function chatOfRequest(database: Database, requestId: string): Promise<string | null> {
  const [row] = await database.read((_client, select) =>
    select<{ chatId: string }>(
      'SELECT chat_id AS "chatId" FROM agent_turn WHERE request_id = ? ' +
        'UNION ALL SELECT chat_id AS "chatId" FROM agent_step WHERE request_id = ? LIMIT 1',
      [requestId, requestId],
    ),
  );
  return row?.chatId ?? null;
}
