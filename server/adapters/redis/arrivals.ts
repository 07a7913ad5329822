import type { BusEntry } from './bus-entry.js';

/** What is new in an entry. */
export interface Arrival {
  /** Something before it never came. */
  readonly isAfterGap: boolean;
  readonly messages: readonly string[];
}

/** The numbers of what came from one sender. */
export class Arrivals {
  #life: string | null = null;
  #last = 0;

  take({ life, first, messages }: BusEntry): Arrival {
    // What an earlier life has sent last, and whether it came, nobody knows.
    const isAnotherLife = this.#life !== null && this.#life !== life;
    if (this.#life !== life) {
      this.#life = life;
      this.#last = 0;
    }
    const isAfterGap = isAnotherLife || first > this.#last + 1;
    const known = Math.max(0, this.#last + 1 - first);
    this.#last = Math.max(this.#last, first + messages.length - 1);
    return { isAfterGap, messages: messages.slice(known) };
  }
}
