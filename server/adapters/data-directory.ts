import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface DataDirectoryClaim {
  /** Lets another server use the directory; once is enough. */
  release(): void;
}

/** SQLite closes what is collected as garbage, and the lock with it. */
const held = new Set<Database.Database>();

/**
 * Makes the directory and holds it for this process until `release`, or until the process dies in whatever way (section 10).
 * The lock is an exclusive transaction on the SQLite file `lock`: the one lock within reach that the kernel takes back from
 * a killed process. A file with a process id in it would outlive a crash and name whoever got that id next.
 *
 * Nothing else may open the file `lock`: closing it anywhere in this process would give up the lock.
 *
 * @throws {Error} with one sentence, where another server holds the directory or it cannot be written.
 */
export function claimDataDirectory(path: string): DataDirectoryClaim {
  const lock = lockIn(path);
  held.add(lock);
  return {
    release() {
      held.delete(lock);
      lock.close();
    },
  };
}

function lockIn(path: string): Database.Database {
  let lock: Database.Database | null = null;
  try {
    mkdirSync(path, { recursive: true });
    lock = new Database(join(path, 'lock'), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock?.close();
    throw new Error(sentence(path, cause), { cause });
  }
}

function sentence(path: string, cause: unknown): string {
  if (cause instanceof Database.SqliteError && cause.code === 'SQLITE_BUSY') {
    return `The data directory ${path} is in use by another server.`;
  }
  return `The data directory ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`;
}
