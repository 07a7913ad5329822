import type { Undo } from './undo.js';

/**
 * How far behind the newest place a second try goes: a turn that pushes as fast as it can takes some dozen places while
 * one write is under way.
 */
const AHEAD = 64;
/** How often messages that are stored before they are told may take new places. */
const TRIES = 3;

/** Gives the messages of a chat their places, and knows which of them were told of. */
export class Sequences {
  #next: number;
  /** The highest that was told of. */
  #newest: number;
  /** Places further on that are given already, to messages on their way to the database. */
  #ahead = { from: 0, to: 0 };

  constructor(next: number) {
    this.#next = next;
    this.#newest = next - 1;
  }

  /** The one that is given next. */
  get next(): number {
    return this.#next;
  }

  /** Gives the next; taken back with `undo`. */
  take(undo?: Undo): number {
    if (this.#ahead.from <= this.#next && this.#next <= this.#ahead.to) this.#next = this.#ahead.to + 1;
    const sequence = this.#next++;
    undo?.add(() => (this.#next = sequence));
    return sequence;
  }

  /** Places up to this one were given before a crash. */
  raise(given: number): void {
    this.#next = Math.max(this.#next, given + 1);
  }

  /** @returns whether messages behind this one were told of before it */
  tell(sequence: number): boolean {
    const isLate = sequence < this.#newest;
    this.#newest = Math.max(this.#newest, sequence);
    this.raise(sequence);
    return isLate;
  }

  /**
   * Places for messages that are stored first and told of afterwards, one such write at a time. Where a turn's messages came
   * in between, they go behind those and are written again, this time so far ahead that the turn does not catch up:
   * nobody sees a sequence go back. After a few tries, or one that fails, they stay where they are, and are told of late.
   *
   * @param write called with a place for each of `count` messages, ascending
   * @returns what the last write gave that was stored
   * @throws what the first write throws
   */
  async inPlace<T>(count: number, write: (sequences: readonly number[], tries: number) => Promise<T>): Promise<T> {
    let places = Array.from({ length: count }, () => this.take());
    let stored = await write(places, 1);
    for (let tries = 2; tries <= TRIES && (places[0] ?? Infinity) < this.#newest; tries++) {
      places = this.#reserve(count);
      try {
        stored = await write(places, tries);
      } catch {
        break;
      }
    }
    return stored;
  }

  #reserve(count: number): number[] {
    const from = this.#next + AHEAD;
    this.#ahead = { from, to: from + count - 1 };
    return Array.from({ length: count }, (_, index) => from + index);
  }
}
