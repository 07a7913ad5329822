import type { LiveTurn } from './live-turn.js';

/** The foreground of a chat: one turn at a time, the others behind it in order (TRN-3). */
export class TurnQueue {
  #waiting: LiveTurn[] = [];
  /** The turn whose time it is, until its `turn.ended`. */
  active: LiveTurn | undefined;

  /** Turns that wait behind the active one. */
  get length(): number {
    return this.#waiting.length;
  }

  get waiting(): readonly LiveTurn[] {
    return this.#waiting;
  }

  get isBusy(): boolean {
    return this.active !== undefined || this.#waiting.length > 0;
  }

  enqueue(live: LiveTurn): void {
    this.#waiting.push(live);
  }

  /** Before all that wait: for a turn that interrupts. */
  enqueueFirst(live: LiveTurn): void {
    this.#waiting.unshift(live);
  }

  /** The active turn has not begun yet: it waits again, before all others. */
  yield(): void {
    if (this.active) this.#waiting.unshift(this.active);
    this.active = undefined;
  }

  /** Makes the first waiting turn the active one, where none is. */
  advance(): LiveTurn | undefined {
    if (this.active) return undefined;
    this.active = this.#waiting.shift();
    return this.active;
  }

  /** Takes a turn out, wherever it stands. */
  remove(live: LiveTurn): void {
    if (this.active === live) this.active = undefined;
    else this.#waiting = this.#waiting.filter((waiting) => waiting !== live);
  }
}
