import { ChatError } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import { FencedOut } from '../ports/fence.js';
import type { Store, TurnWrite } from '../ports/store.js';
import { Deferred } from './deferred.js';

/** Turns stored in one transaction. Groups of 64 were slower than of 16 (docs/decisions/0001). */
const GROUP = 16;
const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 1000;

interface Item {
  /** Made when it is written, so that what was edited meanwhile is written too. */
  readonly make: () => TurnWrite;
  readonly stored: Deferred<void>;
  /** No try begins after this (monotonic ms). */
  readonly deadline: number;
  tries: number;
}

/**
 * The write transactions of turns: those that wait while one runs are stored together in the next (TRN-8). A group that
 * fails is tried again turn by turn, so that one bad write costs only itself; a write that fails is tried again with
 * back-off while its caller waits.
 */
export class WriteQueue {
  readonly #ready: Item[] = [];
  #isRunning = false;
  #isClosed = false;
  #pending = 0;
  #idle = new Deferred<void>();

  constructor(
    private readonly needs: {
      readonly store: Pick<Store, 'write'>;
      readonly clock: Clock;
      readonly ids: IdSource;
      readonly log: Log;
    },
  ) {}

  /**
   * Resolves once the write is stored.
   *
   * @param patienceMs how long to try; Infinity: until it is stored
   * @throws {ChatError} what the store refuses for good, or its last error when patience is over
   */
  submit(make: () => TurnWrite, patienceMs: number): Promise<void> {
    const item: Item = {
      make,
      stored: new Deferred<void>(),
      deadline: this.needs.clock.monotonic() + patienceMs,
      tries: 0,
    };
    this.#pending++;
    void item.stored.promise.catch(() => undefined).then(() => this.#settled());
    this.#enqueue(item);
    return item.stored.promise;
  }

  /** Nothing is tried again from now on: what waits is rejected. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when nothing waits or runs. */
  async idle(): Promise<void> {
    while (this.#pending > 0) await this.#idle.promise;
  }

  #settled(): void {
    if (--this.#pending > 0) return;
    this.#idle.resolve();
    this.#idle = new Deferred<void>();
  }

  #enqueue(item: Item): void {
    this.#ready.push(item);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // What ends in the same moment goes together.
    await Promise.resolve();
    while (this.#ready.length > 0) {
      const group = this.#ready.splice(0, GROUP);
      if (await this.#write(group)) continue;
      if (group.length > 1) for (const item of group) await this.#write([item]);
    }
    this.#isRunning = false;
  }

  /** @returns whether every item of the group has found its way: stored, refused, or put off */
  async #write(group: readonly Item[]): Promise<boolean> {
    try {
      await this.needs.store.write(group.map((item) => item.make()));
    } catch (error) {
      if (group.length > 1) return false;
      this.#failed(group[0] as Item, error);
      return true;
    }
    for (const item of group) item.stored.resolve();
    return true;
  }

  #failed(item: Item, error: unknown): void {
    const { clock, ids, log } = this.needs;
    // The end of a turn is never given up: whatever stands in its way may pass, but for an id that is another's.
    const isRefused =
      error instanceof ChatError && !error.retryable && (item.deadline !== Infinity || error.code === 'conflict');
    // What is another node's to write will never be this one's again.
    const isFinal = this.#isClosed || isRefused || error instanceof FencedOut;
    const backOff = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** item.tries) * (0.5 + ids.fraction() / 2);
    item.tries++;
    if (isFinal || clock.monotonic() + backOff > item.deadline) {
      item.stored.reject(
        error instanceof ChatError ? error : new ChatError('storage_unavailable', undefined, { cause: error }),
      );
      return;
    }
    if (item.tries === 1) log.warn({ err: error }, 'a write failed and is tried again');
    clock.after(backOff, () => this.#enqueue(item));
  }
}
