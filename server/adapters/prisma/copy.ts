import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../clock.js';
import type { IdSource } from '../../id-source.js';
import { PostgresSide } from './copy/postgres-side.js';
import type { Side } from './copy/side.js';
import { SqliteSide } from './copy/sqlite-side.js';
import { migrate } from './migrate.js';
import {
  APPLIED_MIGRATIONS,
  type AppliedMigration,
  nextMigration,
  ownMigrations,
  readMigrations,
} from './migrations.js';
import { isPostgres } from './provider.js';
import { sqlitePath } from './sqlite/connections.js';

export { copyRows, type TableCopy } from './copy/copy-rows.js';

export interface SideOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The database to copy from, for this process alone until it is closed; nothing is changed in it.
 * @throws {Error} it is in use, cannot be read, or is not of this program's schema
 */
export async function openSource({ url, clock }: SideOptions): Promise<Side> {
  const side = await open(url, clock, true);
  try {
    const applied = (await side.select(APPLIED_MIGRATIONS, [])) as unknown as AppliedMigration[];
    const provider = isPostgres(url) ? 'postgresql' : 'sqlite';
    const missing = nextMigration(applied, await readMigrations(ownMigrations(provider)));
    if (missing) throw new Error(`it lacks ${missing.name}: name it in DATABASE_URL and run turnstream migrate`);
    return side;
  } catch (error) {
    await side.close();
    throw error;
  }
}

/**
 * The database to copy to, made and migrated where that is needed, for this process alone until it is closed.
 * @throws {Error} it is in use or cannot be opened
 * @throws {ChatError} as `migrate`
 */
export async function openTarget({ url, clock, ids }: SideOptions): Promise<Side> {
  if (!isPostgres(url)) await mkdir(dirname(sqlitePath(url)), { recursive: true });
  await migrate({ url, clock, ids });
  return open(url, clock, false);
}

const open = async (url: string, clock: Clock, isReadOnly: boolean): Promise<Side> =>
  isPostgres(url) ? PostgresSide.open(url, { isReadOnly, clock }) : SqliteSide.open(sqlitePath(url), { isReadOnly });
