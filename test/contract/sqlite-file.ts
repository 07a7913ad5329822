import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import type { StoreUnderTest } from './store.js';

/** A path in a folder of its own, which `remove` deletes. */
export async function sqliteFile(): Promise<{ path: string; url: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'turnstream-store-'));
  const path = join(folder, 'test.db');
  return { path, url: `file:${path}`, remove: () => rm(folder, { recursive: true }) };
}

const TABLES = ['agent_chat', 'agent_message', 'agent_turn', 'agent_step'];

export interface SqliteStore extends StoreUnderTest {
  readonly path: string;
  /** Every statement that the store has sent, once. */
  readonly statements: Set<string>;
}

/** The store on a SQLite file of its own, with another connection beside it that looks on or gets in the way. */
export async function openSqliteStore(): Promise<SqliteStore> {
  const { path, url, remove } = await sqliteFile();
  const transactions = { read: 0, write: 0 };
  const statements = new Set<string>();
  const store = await openPrismaStore({
    url,
    clock: systemClock,
    ids: systemIds,
    onTransaction: (kind) => transactions[kind]++,
    onStatement: (sql) => statements.add(sql),
  });
  const beside = new Database(path);
  const all = (sql: string, ...args: unknown[]): unknown[] =>
    beside
      .prepare(sql)
      .pluck()
      .all(...args);
  return {
    store,
    path,
    transactions,
    statements,
    // Waiting for the lock would hold the event loop, so this is the proof that it turns as well.
    lockSaidMs: 50,
    async lock() {
      beside.exec('BEGIN IMMEDIATE');
      return async () => void beside.exec('ROLLBACK');
    },
    async storedTimes() {
      const columns = TABLES.flatMap((table) =>
        (beside.pragma(`table_info(${table})`) as { name: string; type: string }[])
          .filter(({ type }) => type === 'DATETIME')
          .map(({ name }) => `SELECT ${name} FROM ${table} WHERE ${name} IS NOT NULL`),
      );
      return columns.flatMap((sql) => all(sql).map(String));
    },
    async liveRows(chatId) {
      const counts = TABLES.map((table) => `SELECT count(*) FROM ${table} WHERE chat_id = ? AND deleted_at IS NULL`);
      return counts.reduce((sum, sql) => sum + (all(sql, chatId)[0] as number), 0);
    },
    async close() {
      await store.close();
      beside.close();
      await remove();
    },
  };
}
