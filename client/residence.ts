import type { Clock, Timer } from './clock.js';

/** Who is there, counted: the first to come enters, and some time after the last has gone it is left. */
export class Residence {
  #count = 0;
  #inside = false;
  #leaving: Timer | null = null;

  /** @param graceMs how long a place stays open when the last one has gone, so that coming back at once costs nothing */
  constructor(
    private readonly clock: Clock,
    private readonly graceMs: number,
    private readonly on: { readonly enter: () => void; readonly leave: () => void },
  ) {}

  /** @returns leaves again, once */
  enter(): () => void {
    this.#count++;
    this.#leaving?.cancel();
    this.#leaving = null;
    if (!this.#inside) {
      this.#inside = true;
      this.on.enter();
    }
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      if (--this.#count === 0) this.#leaving = this.clock.after(this.graceMs, () => this.leave());
    };
  }

  /** Leaves now, unless somebody is there. */
  leave(): void {
    this.#leaving?.cancel();
    this.#leaving = null;
    if (this.#count > 0 || !this.#inside) return;
    this.#inside = false;
    this.on.leave();
  }
}
