import type { Database } from './database.js';
import { timeIn } from './dialect.js';

const TAKE =
  'INSERT INTO agent_lease (chat_id, fence, node_id, taken_at) VALUES (?, 1, ?, ?) ON CONFLICT (chat_id) DO UPDATE ' +
  'SET fence = agent_lease.fence + 1, node_id = excluded.node_id, taken_at = excluded.taken_at RETURNING fence';

export async function takeChat(database: Database, chatId: string, nodeId: string, at: string): Promise<number> {
  const [row] = await database.transaction([], (sql) => sql.query(TAKE, [chatId, nodeId, timeIn(at)]));
  return row?.fence as number;
}

export async function holderOf(database: Database, chatId: string): Promise<string | null> {
  const lease = await database.read((client) => client.agentLease.findUnique({ where: { chatId } }));
  return lease?.nodeId ?? null;
}

/** Ids that one statement asks for. */
const READ_CHUNK = 250;

export function fencesOf(database: Database, chatIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return database.read(async (client) => {
    const fences = new Map<string, number>();
    for (let from = 0; from < chatIds.length; from += READ_CHUNK) {
      const where = { chatId: { in: chatIds.slice(from, from + READ_CHUNK) } };
      for (const { chatId, fence } of await client.agentLease.findMany({ where })) fences.set(chatId, fence);
    }
    return fences;
  });
}
