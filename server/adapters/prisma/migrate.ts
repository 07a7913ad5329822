import type { MigrateOptions } from './migrations.js';
import { migratePostgres } from './postgresql/migrate.js';
import { isPostgres } from './provider.js';
import { migrateSqlite } from './sqlite/migrate.js';

export type { MigrateOptions };

/**
 * Brings a database, new or old, to the schema of this program, as `prisma migrate deploy` would, without Prisma's command
 * line. Each migration and the note that it was applied are one transaction: a crash in the middle leaves the database as
 * it was, and the next start goes on from there. Processes take turns, and the second finds the work done.
 *
 * @returns the names of the migrations that were applied now
 * @throws {ChatError} `internal` where a migration fails, or the database's history is not this program's (changed, failed or
 *   newer migrations); `storage_unavailable` where the database cannot be opened or stays locked
 */
export const migrate = (options: MigrateOptions): Promise<string[]> =>
  isPostgres(options.url) ? migratePostgres(options) : migrateSqlite(options);
