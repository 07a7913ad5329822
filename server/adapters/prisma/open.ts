import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { IdSource } from '../../id-source.js';
import { migrate } from './migrate.js';
import { sqlitePath } from './sqlite.js';
import { PrismaStore, type PrismaStoreOptions } from './prisma-store.js';

export interface OpenStoreOptions extends PrismaStoreOptions {
  readonly ids: IdSource;
  /** Called with the names of the migrations that this start applied, if any. */
  readonly onMigrated?: (names: readonly string[]) => void;
}

/**
 * The store on the database that `url` names, made and migrated where that is needed, and answering.
 * @throws {ChatError} as `migrate`; `storage_unavailable`
 */
export async function openPrismaStore(options: OpenStoreOptions): Promise<PrismaStore> {
  await mkdir(dirname(sqlitePath(options.url)), { recursive: true });
  const applied = await migrate(options);
  if (applied.length > 0) options.onMigrated?.(applied);
  const store = new PrismaStore(options);
  await store.ping();
  return store;
}
