import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChatError } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { IdSource } from '../../id-source.js';

export interface MigrateOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Folders with a `migration.sql` each, applied in the order of their names. Default: those of this program. */
  readonly directory?: string;
  /** How long to wait for another process that holds the database. */
  readonly lockWaitMs?: number;
}

export const LOCK_WAIT_MS = 30_000;

export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A row of Prisma's own table of migrations. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly finished: unknown;
}

/** The rows that count: those rolled back by hand are as if they had never been. */
export const APPLIED_MIGRATIONS =
  'SELECT migration_name AS name, checksum, finished_at AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL';

/** This program's migrations of one provider. At the same place seen from the sources and from dist. */
export const ownMigrations = (provider: 'sqlite' | 'postgresql'): string =>
  fileURLToPath(new URL(`../../../prisma/${provider}/migrations`, import.meta.url));

export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * The first migration that the database lacks.
 * @throws {ChatError} `internal` where its history is not this program's
 */
export function nextMigration(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): Migration | undefined {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of applied) {
    const migration = known.get(name);
    if (finished === null)
      throw new ChatError('internal', `The migration ${name} failed earlier and has to be resolved.`);
    if (!migration) throw new ChatError('internal', `The database is newer than this program: it has ${name}.`);
    if (migration.checksum !== checksum)
      throw new ChatError('internal', `The migration ${name} was changed after it was applied.`);
  }
  const names = new Set(applied.map(({ name }) => name));
  return migrations.find(({ name }) => !names.has(name));
}

/** The next start would fail in the same way. */
export const migrationFailed = (name: string, cause: unknown): ChatError =>
  new ChatError('internal', `The migration ${name} failed.`, { cause });
