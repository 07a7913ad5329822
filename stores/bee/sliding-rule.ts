import type { BeeMessage, FatalError } from './framework.js';
import { inserted, windowOf, without, type Rows, type Rule } from './rule.js';
import type { Row } from './row.js';

/** Chooses what has to go. The messages are a copy: what is done to them is done to the copy. */
export type SlidingSelector<M> = (messages: M[]) => M | M[] | null | undefined;

/** Holds the last `size` messages, or those that the selector leaves. */
export class SlidingRule<M extends BeeMessage> implements Rule<M> {
  constructor(
    private readonly Fatal: FatalError,
    private readonly size: number,
    private readonly selector: SlidingSelector<M> = (messages) => messages[0],
  ) {}

  admit(row: Row<M>, index: number | undefined, rows: Rows<M>): Rows<M> {
    return inserted(this.#withRoom(rows), row, index);
  }

  /** As if they had been added one after the other. Where the selector does not help, the oldest go. */
  window(rows: Rows<M>): ReturnType<typeof windowOf<M>> {
    let kept: Rows<M> = [];
    for (const row of rows) {
      try {
        kept = this.admit(row, undefined, kept);
      } catch (error) {
        if (!(error instanceof this.Fatal)) throw error;
        kept = [...kept, row].slice(Math.max(0, kept.length + 1 - this.size));
      }
    }
    return windowOf(rows, kept);
  }

  #withRoom(rows: Rows<M>): Rows<M> {
    if (this.#isRoomIn(rows)) return rows;
    const messages = rows.map(({ message }) => message);
    let kept = rows;
    for (const message of [this.selector([...messages])].flat()) {
      // Falsy ones stand for nothing, whatever the selector's type says.
      if (!message) continue;
      const rest = without(kept, message as M);
      if (rest === kept)
        throw new this.Fatal('Cannot delete non existing message.', [], { context: { message, messages } });
      kept = rest;
    }
    if (!this.#isRoomIn(kept))
      throw new this.Fatal('Custom memory removalSelector did not return any message. Memory overflow has occurred.');
    return kept;
  }

  #isRoomIn = (rows: Rows<M>): boolean => rows.length + 1 <= this.size;
}
