import { join } from 'node:path';
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { connected, postgresDatabase, type PostgresDatabase } from './postgres-database.js';

const isOnPostgres = process.env['TEST_STORE'] === 'postgresql';

/** A data directory's database while its test runs: a server that starts on the directory again finds its chats. */
const inUse = new Map<string, PostgresDatabase>();
/** Migrated and empty. Making and dropping one for each test would take longer than most tests do. */
const ready: PostgresDatabase[] = [];
if (isOnPostgres) afterAll(() => Promise.all(ready.map((database) => database.remove())));

/**
 * The address of the database of servers on this data directory: SQLite within it or, with TEST_STORE=postgresql, a database
 * that is theirs alone until the test is finished.
 */
export function databaseUrl(dataDir: string): string {
  if (!isOnPostgres) return `file:${join(dataDir, 'turnstream.db')}`;
  const existing = inUse.get(dataDir);
  if (existing) return existing.url;
  const database = ready.pop() ?? postgresDatabase();
  inUse.set(dataDir, database);
  onTestFinished(async () => {
    for (const [directory, used] of inUse) if (used === database) inUse.delete(directory);
    if (await isEmptied(database.url)) ready.push(database);
  });
  return database.url;
}

/** The data directory was moved: its database goes with it, wherever it is. */
export function carryDatabase(from: string, to: string): void {
  const database = inUse.get(from);
  if (database) inUse.set(to, database);
}

/** @returns false where no server has made it */
async function isEmptied(url: string): Promise<boolean> {
  try {
    await connected(url, async (client) => {
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const { rows } = await client.query<{ deletions: string }>(
        `SELECT string_agg(format('DELETE FROM %I', tablename), '; ') AS deletions FROM pg_tables
         WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
      );
      // Where there is little in them, quicker by far than TRUNCATE, which makes files anew.
      await client.query(rows[0]?.deletions ?? '');
    });
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '3D000') return false;
    throw error;
  }
}
