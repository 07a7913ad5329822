import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { migrate, type MigrateOptions } from './migrate.js';
import { type ClaimKind, DatabaseClaim } from './postgresql/claim.js';
import { isPostgres } from './provider.js';
import { PrismaStore, type PrismaStoreOptions } from './prisma-store.js';
import { sqlitePath } from './sqlite/connections.js';

export interface OpenStoreOptions extends Omit<PrismaStoreOptions, 'claim'>, Pick<MigrateOptions, 'ids'> {
  /**
   * How PostgreSQL's database is held while the store is open: so that no other server may use it, or among nodes that share
   * it. SQLite's is within a data directory, which is claimed as a whole. Default: not at all.
   */
  readonly claim?: ClaimKind;
  /** Called with the names of the migrations that this start applied, if any. */
  readonly onMigrated?: (names: readonly string[]) => void;
}

/**
 * The store on the database that `url` names, made and migrated where that is needed, and answering.
 * @throws {ChatError} as `migrate`; `conflict` where another server uses the database; `storage_unavailable`
 */
export async function openPrismaStore(options: OpenStoreOptions): Promise<PrismaStore> {
  const { url, clock, ids, claim: kind, ...others } = options;
  if (!isPostgres(url)) await mkdir(dirname(sqlitePath(url)), { recursive: true });
  const applied = await migrate({ url, clock, ids });
  if (applied.length > 0) options.onMigrated?.(applied);
  const claim = kind && isPostgres(url) ? { claim: await DatabaseClaim.take(url, clock, kind) } : {};
  const store = new PrismaStore({ ...others, url, clock, ...claim });
  await store.ping();
  return store;
}
