import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { claimDataDirectory } from '../adapters/data-directory.js';
import { unsavedAttempts } from '../adapters/file-journal.js';
import { copyRows, openSource, openTarget, type TableCopy } from '../adapters/prisma/copy.js';
import { openPrismaStore, type OpenStoreOptions } from '../adapters/prisma/open.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { systemIds } from '../id-source.js';
import { createLog } from '../log.js';
import { whileOpen } from './opened.js';
import { rootOf, shownAddress } from './told-plainly.js';

/**
 * Brings the database to the schema of this program.
 *
 * @returns the migrations that were applied now
 * @throws {Error} a data directory that another server uses; a database that cannot be opened
 */
export function migrateDatabase(config: Config): Promise<readonly string[]> {
  return whileOpen(async (opened) => {
    const claim = claimDataDirectory(config.dataDir);
    opened.add(() => claim.release());
    let applied: readonly string[] = [];
    const store = await openStore({
      url: config.databaseUrl,
      clock: systemClock,
      ids: systemIds,
      onMigrated: (names) => (applied = names),
    });
    opened.add(() => store.close());
    return applied;
  });
}

export interface CopyOptions {
  /** Addresses as in DATABASE_URL. */
  readonly from: string;
  readonly to: string;
  readonly onTable: (copy: TableCopy) => void;
}

/**
 * Copies all that is stored in one database into another, and compares the two. Called again it goes on where it stopped.
 *
 * @returns whether they are the same now
 * @throws {Error} one of the two is in use or cannot be opened; turns that the journal alone has; other rows in `to`
 */
export function copyDatabase(config: Config, { from, to, onTable }: CopyOptions): Promise<boolean> {
  const folders = [from, to].flatMap((url) => (url.startsWith('file:') ? dirname(url.slice('file:'.length)) : []));
  return whileOpen(async (opened) => {
    for (const folder of new Set([...folders, config.dataDir].filter(existsSync).map((path) => resolve(path)))) {
      const claim = claimDataDirectory(folder);
      opened.add(() => claim.release());
      const unsaved = await unsavedAttempts(join(folder, 'journal'), createLog(config.logLevel));
      if (unsaved > 0)
        throw new Error(
          `turns (${unsaved}) are in the journal of ${folder} only: start its server once more, so that they are stored`,
        );
    }
    const side = { clock: systemClock, ids: systemIds };
    const source = await openedAt(from, () => openSource({ ...side, url: from }));
    opened.add(() => source.close());
    const target = await openedAt(to, () => openTarget({ ...side, url: to }));
    opened.add(() => target.close());
    let isSame = true;
    for await (const copy of copyRows(source, target)) {
      isSame &&= copy.different === 0;
      onTable(copy);
    }
    return isSame;
  });
}

/** The store of a server. @throws {Error} as `openedAt` */
export const openStore = (options: OpenStoreOptions): ReturnType<typeof openPrismaStore> =>
  openedAt(options.url, () => openPrismaStore(options));

/** @throws {Error} in one line which database it is and what is wrong with it */
async function openedAt<T>(url: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new Error(`the database ${shownAddress(url)} cannot be opened: ${rootOf(error).message}`, { cause: error });
  }
}
