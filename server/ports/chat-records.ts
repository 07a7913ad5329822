import type { AttemptKey } from './journal.js';

/**
 * LIF-4: what another node needs to go on with a chat whose owner has died: the chat's log as its followers saw it, and of
 * every attempt that is not stored yet what the journal of a single node holds. The owner records an entry before anybody
 * sees what it says.
 *
 * Promises of every implementation (`test/contract/chat-records.ts`):
 *
 * - What a `commit` has written outlives this process. All chats go out in one round trip.
 * - Entries come back in the order in which they were added: of an attempt that was not forgotten all, of the log at least the
 *   newest within its bounds.
 * - Once a chat was opened under a fence, nothing is added under a lower one.
 */
export interface ChatRecords {
  /**
   * Begins to record a chat under the fence of this node's taking.
   * @returns the record, and what owners before have left in it, which stays until it is outlived or forgotten; and whether the
   *   last of them has sealed it
   * @throws {ChatError} `storage_unavailable`; {@link FencedOut} where a later owner has opened it
   */
  open(chatId: string, fence: number): Promise<OpenedRecord>;
  /**
   * Closes a record that has everything that was stored and told of its chat: its log may go on elsewhere under its epoch. One
   * that has lost something since it was begun, or restarted, is closed without a seal; and so is one that was opened without
   * a seal and has no event of its own behind those of earlier owners, which nobody may go on from.
   * @throws {ChatError} `storage_unavailable`: it may be sealed or not
   */
  seal(record: ChatRecord): Promise<void>;
  /**
   * Writes what was added to all records, and resolves when it is safe.
   * @throws {ChatError} `storage_unavailable`: what was added may have been written or not, and is added no more
   */
  commit(): Promise<CommitOutcome>;
  /** Drops what was added and not committed: while nothing can be, it must not pile up. The records have to be restarted then. */
  discard(): void;
  close(): void;
}

export interface OpenedRecord {
  readonly record: ChatRecord;
  readonly left: readonly RecordEntry[];
  readonly isSealed: boolean;
}

/** Chats whose entries of this commit were not written. */
export interface CommitOutcome {
  /** A later owner has opened them: what was held under this fence is this node's no more. */
  readonly lost: readonly { readonly chatId: string; readonly fence: number }[];
  /** The service has lost what it held of them: they have to be restarted. */
  readonly gone: readonly string[];
}

/** The record of one chat, as its owner writes it. */
export interface ChatRecord {
  /** Whether entries of it were refused because a later owner has opened it: what they say, nobody will ever know. */
  readonly isOutlived: boolean;
  add(entry: RecordEntry): void;
  /** The attempt is stored: its notes are needed no more, nor its events for its sake. */
  forget(attempt: AttemptKey): void;
  /**
   * What stood is given up with the next commit, but for what owners before have left and nobody has taken up yet: all else that
   * is needed is added again.
   */
  restart(left?: readonly RecordEntry[]): void;
  /** Adds nothing from now on. What stands is kept for the time that logs are kept, for those who come back. */
  close(): void;
}

/**
 * - `event`: an event of the chat's log, as JSON; with the attempt whose messages it tells of, where there is one.
 * - `note`: what else the journal holds of an attempt (its beginning, its steps, its end), as JSON.
 */
export type RecordEntry =
  | { readonly kind: 'event'; readonly attempt: AttemptKey | null; readonly json: string }
  | { readonly kind: 'note'; readonly attempt: AttemptKey; readonly json: string };
