import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { claimDataDirectory, type DataDirectoryClaim } from '../adapters/data-directory.js';
import { unsavedAttempts } from '../adapters/file-journal.js';
import { copyRows, openSource, openTarget, type TableCopy } from '../adapters/prisma/copy.js';
import { openPrismaStore, type OpenStoreOptions } from '../adapters/prisma/open.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { systemIds } from '../id-source.js';
import { createLog } from '../log.js';
import { rootOf, shownAddress } from './told-plainly.js';

/**
 * Brings the database to the schema of this program.
 *
 * @returns the migrations that were applied now
 * @throws {Error} a data directory that another server uses; a database that cannot be opened
 */
export async function migrateDatabase(config: Config): Promise<readonly string[]> {
  const claim = claimDataDirectory(config.dataDir);
  try {
    let applied: readonly string[] = [];
    const store = await openStore(claim, {
      url: config.databaseUrl,
      clock: systemClock,
      ids: systemIds,
      onMigrated: (names) => (applied = names),
    });
    await store.close();
    return applied;
  } finally {
    claim.release();
  }
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
export async function copyDatabase(config: Config, { from, to, onTable }: CopyOptions): Promise<boolean> {
  const folders = [from, to].flatMap((url) => (url.startsWith('file:') ? dirname(url.slice('file:'.length)) : []));
  const closing: (() => void | Promise<void>)[] = [];
  try {
    for (const folder of new Set([...folders, config.dataDir].filter(existsSync).map((path) => resolve(path)))) {
      const claim = claimDataDirectory(folder);
      closing.unshift(() => claim.release());
      const unsaved = await unsavedAttempts(join(folder, 'journal'), createLog(config.logLevel));
      if (unsaved > 0)
        throw new Error(
          `turns (${unsaved}) are in the journal of ${folder} only: start its server once more, so that they are stored`,
        );
    }
    const side = { clock: systemClock, ids: systemIds };
    const source = await openedAt(from, () => openSource({ ...side, url: from }));
    closing.unshift(() => source.close());
    const target = await openedAt(to, () => openTarget({ ...side, url: to }));
    closing.unshift(() => target.close());
    let isSame = true;
    for await (const copy of copyRows(source, target)) {
      isSame &&= copy.different === 0;
      onTable(copy);
    }
    return isSame;
  } finally {
    for (const close of closing) await close();
  }
}

/** The store of a server. @throws {Error} as `openedAt`; then nothing is held any more */
export async function openStore(
  claim: DataDirectoryClaim,
  options: OpenStoreOptions,
): ReturnType<typeof openPrismaStore> {
  try {
    return await openedAt(options.url, () => openPrismaStore(options));
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** @throws {Error} in one line which database it is and what is wrong with it */
async function openedAt<T>(url: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new Error(`the database ${shownAddress(url)} cannot be opened: ${rootOf(error).message}`, { cause: error });
  }
}
