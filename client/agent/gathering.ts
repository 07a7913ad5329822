import type { Clock, Timer } from '../clock.js';

/**
 * When to send what has gathered: the first after a pause goes with the others of the same tick, so that nothing waits
 * without need; so does what somebody waits for; in a stream, at most one sending in so many milliseconds.
 */
export class Gathering {
  #next: 'none' | 'this tick' | Timer = 'none';
  #lastAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly leastMs: number,
    private readonly send: () => void,
  ) {}

  get isDue(): boolean {
    return this.#next !== 'none';
  }

  /** Something is there to be sent; `now`: somebody waits until it has arrived. */
  request(now: boolean): void {
    if (this.#next === 'this tick' || (this.#next !== 'none' && !now)) return;
    this.cancel();
    const wait = this.#lastAt + this.leastMs - this.clock.now();
    // A wall clock can be set back: then nothing is waited for.
    if (!now && wait > 0 && wait <= this.leastMs) {
      this.#next = this.clock.after(wait, () => this.#fire());
    } else {
      this.#next = 'this tick';
      queueMicrotask(() => this.#fire());
    }
  }

  cancel(): void {
    if (typeof this.#next === 'object') this.#next.cancel();
  }

  #fire(): void {
    this.#next = 'none';
    this.#lastAt = this.clock.now();
    this.send();
  }
}
