import type { Clock } from '../clock.js';
import type { Journal } from '../ports/journal.js';

/** Something with events that nobody was given yet. */
export interface Source {
  deliver(): void;
}

/**
 * The way out: journal first, deliver second. What all chats publish within one turn of the event loop goes to the
 * journal in one write, and to each subscriber in one frame.
 */
export class Pump {
  /** Milliseconds that delivering has taken so far: how busy the way out is. */
  spentMs = 0;
  readonly #sources = new Set<Source>();

  constructor(
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {}

  add(source: Source): void {
    if (this.#sources.size === 0) this.clock.soon(() => this.flush());
    this.#sources.add(source);
  }

  /** Delivers what there is, now. After it, what anybody can see is journaled. */
  flush(): void {
    this.journal.commit();
    if (this.#sources.size === 0) return;
    const began = this.clock.monotonic();
    const sources = [...this.#sources];
    this.#sources.clear();
    for (const source of sources) source.deliver();
    this.spentMs += this.clock.monotonic() - began;
  }
}
