import Database from 'better-sqlite3';
import { ChatError } from '../../../../protocol/index.js';
import { isoNow, pause } from '../../../clock.js';
import { timeIn } from '../dialect.js';
import {
  APPLIED_MIGRATIONS,
  type AppliedMigration,
  LOCK_WAIT_MS,
  type MigrateOptions,
  type Migration,
  migrationFailed,
  nextMigration,
  ownMigrations,
  readMigrations,
} from '../migrations.js';
import { sqlitePath } from './connections.js';

const LOCK_POLL_MS = 50;

/** As Prisma's schema engine makes it, to the letter: its CLI reads and writes the same table. */
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
)`;

/**
 * Brings a SQLite file, new or old, to the schema of this program, as `prisma migrate deploy` would, without Prisma's
 * command line. Each migration and the note that it was applied are one transaction: a crash in the middle leaves the
 * database as it was, and the next start goes on from there. Two processes take turns, and the second finds the work done.
 *
 * @returns the names of the migrations that were applied now
 * @throws {ChatError} `internal` where a migration fails, or the file's history is not this program's (changed, failed or
 *   newer migrations); `storage_unavailable` where the database cannot be opened or stays locked
 */
export async function migrateSqlite(options: MigrateOptions): Promise<string[]> {
  const { url, clock, lockWaitMs = LOCK_WAIT_MS } = options;
  const migrations = await readMigrations(options.directory ?? ownMigrations('sqlite'));
  const deadline = clock.monotonic() + lockWaitMs;
  const patiently = async <T>(work: () => T): Promise<T> => {
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (error instanceof ChatError) throw error;
        if (!isBusy(error) || clock.monotonic() >= deadline)
          throw new ChatError('storage_unavailable', undefined, { cause: error });
        await pause(clock, LOCK_POLL_MS);
      }
    }
  };

  const file = await patiently(() => new Database(sqlitePath(url), { timeout: 0 }));
  try {
    await patiently(() => file.pragma('journal_mode = WAL'));
    // A migration that makes a table anew drops the old one: with foreign keys on, that would delete what refers to it.
    // Only here, because inside a transaction the pragma does nothing.
    file.pragma('foreign_keys = OFF');
    const applied: string[] = [];
    for (;;) {
      const name = await patiently(() => applyNext(file, migrations, options));
      if (name === null) return applied;
      applied.push(name);
    }
  } finally {
    file.close();
  }
}

/** Applies the first migration that is missing; null when there is none. */
function applyNext(
  file: Database.Database,
  migrations: readonly Migration[],
  { clock, ids }: MigrateOptions,
): string | null {
  const apply = file.transaction(() => {
    file.exec(MIGRATIONS_TABLE);
    const next = nextMigration(file.prepare(APPLIED_MIGRATIONS).all() as AppliedMigration[], migrations);
    if (!next) return null;
    const startedAt = timeIn(isoNow(clock));
    run(file, next);
    const broken = file.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0) throw new ChatError('internal', `The migration ${next.name} would break references.`);
    file
      .prepare(
        'INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES (?, ?, ?, ?, ?, 1)',
      )
      .run(ids.id(), next.checksum, next.name, startedAt, timeIn(isoNow(clock)));
    return next.name;
  });
  return apply.immediate();
}

/** @throws {ChatError} internal: the next start would fail in the same way */
function run(file: Database.Database, { name, sql }: Migration): void {
  try {
    file.exec(sql);
  } catch (error) {
    throw migrationFailed(name, error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
