import { nextTick, type Clock } from '../../../clock.js';

/** Milliseconds that statements may hold the event loop before others get to it. */
const MAX_HOLD_MS = 4;

/**
 * Keeps a row of synchronous statements from holding the event loop as a whole. better-sqlite3 works on this thread, and
 * what awaits it goes on in microtasks: without a pause, a thousand short statements are one long one.
 */
export class LoopShare {
  #heldSince: number | undefined;

  constructor(private readonly clock: Clock) {}

  /** Runs one statement, and resolves in a later tick of the loop where the statements of this one took too long. */
  async run<T>(statement: () => T | Promise<T>): Promise<T> {
    const heldSince = (this.#heldSince ??= this.#start());
    try {
      return await statement();
    } finally {
      if (this.clock.monotonic() - heldSince >= MAX_HOLD_MS) await nextTick(this.clock);
    }
  }

  #start(): number {
    this.clock.soon(() => (this.#heldSince = undefined));
    return this.clock.monotonic();
  }
}
