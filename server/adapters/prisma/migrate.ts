import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChatError } from '../../../protocol/index.js';
import { type Clock, isoNow, pause } from '../../clock.js';
import type { IdSource } from '../../id-source.js';
import { timeIn } from './dialect.js';
import { sqlitePath } from './sqlite.js';

export interface MigrateOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Folders with a `migration.sql` each, applied in the order of their names. Default: those of this program. */
  readonly directory?: string;
  /** How long to wait for another process that holds the database. */
  readonly lockWaitMs?: number;
}

/** At the same place seen from the sources and from dist. */
const OWN_MIGRATIONS = fileURLToPath(new URL('../../../prisma/sqlite/migrations', import.meta.url));
const LOCK_WAIT_MS = 30_000;
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

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Brings a SQLite file, new or old, to the schema of this program, as `prisma migrate deploy` would, without Prisma's
 * command line. Each migration and the note that it was applied are one transaction: a crash in the middle leaves the
 * database as it was, and the next start goes on from there. Two processes take turns, and the second finds the work done.
 *
 * @returns the names of the migrations that were applied now
 * @throws {ChatError} `internal` where a migration fails, or the file's history is not this program's (changed, failed or
 *   newer migrations); `storage_unavailable` where the database cannot be opened or stays locked
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { url, clock, lockWaitMs = LOCK_WAIT_MS } = options;
  const migrations = await readMigrations(options.directory ?? OWN_MIGRATIONS);
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

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Applies the first migration that is missing; null when there is none. */
function applyNext(
  file: Database.Database,
  migrations: readonly Migration[],
  { clock, ids }: MigrateOptions,
): string | null {
  const apply = file.transaction(() => {
    file.exec(MIGRATIONS_TABLE);
    const next = nextOf(file, migrations);
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
    throw new ChatError('internal', `The migration ${name} failed.`, { cause: error });
  }
}

interface AppliedRow {
  readonly name: string;
  readonly checksum: string;
  readonly finished: string | null;
}

function nextOf(file: Database.Database, migrations: readonly Migration[]): Migration | undefined {
  const rows = file
    .prepare(
      'SELECT migration_name AS name, checksum, finished_at AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    )
    .all() as AppliedRow[];
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of rows) {
    const migration = known.get(name);
    if (finished === null)
      throw new ChatError('internal', `The migration ${name} failed earlier and has to be resolved.`);
    if (!migration) throw new ChatError('internal', `The database is newer than this program: it has ${name}.`);
    if (migration.checksum !== checksum)
      throw new ChatError('internal', `The migration ${name} was changed after it was applied.`);
  }
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.find(({ name }) => !applied.has(name));
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
