import type { Clock } from '../clock.js';
import type { Journal } from '../ports/journal.js';

/** Hands out what was taken. */
export type Delivery = () => void;

/** Something with events that nobody was given yet. */
export interface Source {
  /** Gives away what there is to hand out. */
  take(): Delivery;
}

/** Where else things are written down before anybody sees them. Resolves when what was added before is safe, and never rejects. */
export type Safekeeping = () => Promise<void>;

/**
 * The way out: journal first, deliver second. What all chats publish within one tick of the event loop goes to the
 * journal in one write, and to each subscriber in one frame.
 *
 * Where other nodes have to know it too, it is handed out once they can: in the order in which it was taken.
 */
export class Pump {
  /** Milliseconds that delivering has taken so far: how busy the way out is. */
  spentMs = 0;
  readonly #sources = new Set<Source>();
  #waiting: Promise<void> | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly journal: Pick<Journal, 'commit'>,
    /** Null on a node of its own: then what is taken is handed out at once. */
    private readonly safekeeping: Safekeeping | null = null,
  ) {}

  add(source: Source): void {
    if (this.#sources.size === 0) this.clock.soon(() => this.flush());
    this.#sources.add(source);
  }

  /** Takes what there is, and hands it out as soon as it is safe: on a node of its own, before this returns. */
  flush(): void {
    this.journal.commit();
    if (this.#sources.size === 0) return;
    const deliveries = [...this.#sources].map((source) => source.take());
    this.#sources.clear();
    const kept = this.safekeeping?.();
    if (kept) this.#after(kept, deliveries);
    else this.#deliver(deliveries);
  }

  /** Runs `delivery` behind all that was taken before. */
  inOrder(delivery: Delivery): void {
    if (this.#waiting) this.#after(this.#waiting, [delivery]);
    else delivery();
  }

  /** Settles when everything that was taken is safe and handed out; null where it is already. */
  get waiting(): Promise<void> | null {
    return this.#waiting;
  }

  #after(kept: Promise<void>, deliveries: readonly Delivery[]): void {
    const waiting = Promise.all([this.#waiting, kept]).then(() => {
      if (this.#waiting === waiting) this.#waiting = null;
      this.#deliver(deliveries);
    });
    this.#waiting = waiting;
  }

  #deliver(deliveries: readonly Delivery[]): void {
    const began = this.clock.monotonic();
    for (const deliver of deliveries) deliver();
    this.spentMs += this.clock.monotonic() - began;
  }
}
