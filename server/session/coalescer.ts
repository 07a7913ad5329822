import type { Clock } from '../clock.js';
import type { Pump } from './pump.js';

/** A chat with appends that wait for the end of their window. */
export interface AppendBuffer {
  flushAppends(): void;
}

/** The next flush waits at least so many times as long as the last one took: overload makes events larger, not the queue longer. */
const ADAPT = 2;

/**
 * SUB-6: one window for all chats. Appends that come within it are joined; a window that took long to flush is followed
 * by a longer one (measured in `bench/`).
 */
export class Coalescer {
  #waiting = new Set<AppendBuffer>();
  #isArmed = false;
  #lastFlushMs = 0;

  constructor(
    private readonly clock: Clock,
    /** Length of the window in milliseconds; 0: one turn of the event loop. */
    private readonly shortestMs: number,
    private readonly pump: Pump,
  ) {}

  /** The window as it is now, in milliseconds; 0: what comes in one turn of the event loop. */
  get windowMs(): number {
    return this.shortestMs === 0 ? 0 : Math.max(this.shortestMs, ADAPT * this.#lastFlushMs);
  }

  /** The buffer is flushed at the end of the window. */
  add(buffer: AppendBuffer): void {
    this.#waiting.add(buffer);
    if (this.#isArmed) return;
    this.#isArmed = true;
    if (this.windowMs === 0) this.clock.soon(() => this.#flush());
    else this.clock.after(this.windowMs, () => this.#flush());
  }

  #flush(): void {
    const began = this.clock.monotonic();
    const buffers = this.#waiting;
    this.#waiting = new Set();
    this.#isArmed = false;
    for (const buffer of buffers) buffer.flushAppends();
    this.pump.flush();
    this.#lastFlushMs = this.clock.monotonic() - began;
  }
}
