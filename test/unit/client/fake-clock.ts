import type { Clock } from '../../../client/clock.js';

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #order = 0;
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): { cancel: () => void } {
    const alarm = { at: this.#now + ms, order: this.#order++, callback };
    this.#alarms.add(alarm);
    return { cancel: () => void this.#alarms.delete(alarm) };
  }

  /** Timers that are still set: a closed client has none. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Moves on, with every timer that is due at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#due(end); next; next = this.#due(end)) {
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }

  #due(end: number): Alarm | undefined {
    return [...this.#alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

/** Lets promises that are settled call back. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await Promise.resolve();
}
