import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';

/** Holds SQLite's write lock as another process would: readers go on, no write gets through until it is released. */
export function lockStore(dataDir: string): { release(): void } {
  const file = new Database(join(dataDir, 'turnstream.db'), { timeout: 5000 });
  file.exec('BEGIN IMMEDIATE');
  const release = (): void => {
    if (file.inTransaction) file.exec('ROLLBACK');
    file.close();
  };
  onTestFinished(release);
  return { release };
}

/** What one SELECT finds in the database file. */
export function rows(dataDir: string, sql: string, ...args: unknown[]): Record<string, unknown>[] {
  const file = new Database(join(dataDir, 'turnstream.db'), { readonly: true });
  try {
    return file.prepare(sql).all(...args) as Record<string, unknown>[];
  } finally {
    file.close();
  }
}

/** Makes the database refuse every change of a turn, also over restarts, until it is released: its end cannot be stored. */
export function refuseEnds(dataDir: string): { release(): void } {
  const change = (sql: string): void => {
    const file = new Database(join(dataDir, 'turnstream.db'), { timeout: 5000 });
    file.exec(sql);
    file.close();
  };
  change("CREATE TRIGGER no_ends BEFORE UPDATE ON agent_turn BEGIN SELECT RAISE(ABORT, 'refused'); END");
  return { release: () => change('DROP TRIGGER no_ends') };
}
