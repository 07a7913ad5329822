/**
 * What makes a crash lose nothing that a client has seen (LIF-2): an append-only record of every attempt that has begun
 * and is not stored yet. The session writes an entry before anybody sees what it says.
 *
 * Promises of every implementation (`test/contract/journal.ts`):
 *
 * - What `commit` has written survives the death of the process at once, and that of the machine after at most 100 ms.
 * - Entries of one attempt come back in the order in which they were added.
 * - After `forget` an attempt takes no room once its neighbours are forgotten too.
 * - A torn last entry (a power cut within a write) is left out, and said.
 */
export interface Journal {
  /** The attempts that were begun and not forgotten, in the order of their beginning. Called once, before anything is added. */
  recover(): Promise<JournaledAttempt[]>;
  /** Adds an entry to an attempt; the first one begins it. `entry` is one line of JSON. Nothing is written before `commit`. */
  add(attempt: AttemptKey, entry: string): void;
  /** The attempt is stored: its entries are needed no more. */
  forget(attempt: AttemptKey): void;
  /**
   * Writes what was added, before it returns. It never throws: where the device refuses, the entries are kept and tried
   * again, and `healthy` says so.
   */
  commit(): void;
  /** False while entries could not be written: no turn may begin, and `readyz` fails. */
  readonly healthy: boolean;
  /** Resolves when entries can be written again; at once while healthy (AGT-6). */
  writable(): Promise<void>;
  close(): Promise<void>;
}

/** `<requestId>.<attempt>` */
export type AttemptKey = string;

export const attemptKey = (requestId: string, attempt: number): AttemptKey => `${requestId}.${attempt}`;

export interface JournaledAttempt {
  readonly attempt: AttemptKey;
  readonly entries: readonly string[];
}
