import type { Clock } from '../clock.js';
import type { Pump } from './pump.js';

/** A chat with appends that wait for the end of their window. */
export interface AppendBuffer {
  flushAppends(): void;
}

/** A window is at least so many times as long as delivering took in the last one: overload makes events larger, not the queue longer. */
const ADAPT = 2;
/** So many windows without a flush, and it is looked at the load again: many chats may send nothing but first appends. */
const LOOK = 2;
/** Load makes a window no longer than this: a process that was stopped while it delivered must not go on waiting. */
const LONGEST_MS = 1000;

/**
 * SUB-6: one window for all chats. Appends that come within it are joined; where delivering took long, in a flush or of
 * appends that went at once, a longer one follows (measured in `bench/`).
 */
export class Coalescer {
  #waiting = new Set<AppendBuffer>();
  #isArmed = false;
  #windowMs: number;
  /** When it was looked at the load last, and what delivering had taken until then. */
  #lookedAt: number;
  #spentThen = 0;

  constructor(
    private readonly clock: Clock,
    /** Length of the window in milliseconds; 0: one tick of the event loop. */
    private readonly shortestMs: number,
    private readonly pump: Pump,
  ) {
    this.#windowMs = shortestMs;
    this.#lookedAt = clock.monotonic();
  }

  /** The window as it is now, in milliseconds; 0: what comes in one tick of the event loop. */
  windowAt(now: number): number {
    if (this.shortestMs > 0 && now - this.#lookedAt > LOOK * this.#windowMs) this.#look(now);
    return this.#windowMs;
  }

  /** The buffer is flushed at the end of the window. */
  add(buffer: AppendBuffer): void {
    this.#waiting.add(buffer);
    if (this.#isArmed) return;
    this.#isArmed = true;
    const windowMs = this.windowAt(this.clock.monotonic());
    if (windowMs === 0) this.clock.soon(() => this.#flush());
    else this.clock.after(windowMs, () => this.#flush());
  }

  #flush(): void {
    const began = this.clock.monotonic();
    const buffers = this.#waiting;
    this.#waiting = new Set();
    this.#isArmed = false;
    for (const buffer of buffers) buffer.flushAppends();
    this.pump.spentMs += this.clock.monotonic() - began;
    this.pump.flush();
    this.#look(this.clock.monotonic());
  }

  /** Fits the window to what delivering took of the time since the last look. */
  #look(now: number): void {
    const spent = this.pump.spentMs - this.#spentThen;
    const idle = now - this.#lookedAt - spent;
    const inWindow = spent * Math.min(1, this.#windowMs / Math.max(1, idle));
    if (this.shortestMs > 0) this.#windowMs = Math.max(this.shortestMs, Math.min(LONGEST_MS, ADAPT * inWindow));
    this.#lookedAt = now;
    this.#spentThen = this.pump.spentMs;
  }
}
