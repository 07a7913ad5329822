/**
 * A value that changes and can be watched, in the form that React's `useSyncExternalStore` takes. Snapshots are values:
 * the same reference until something in them has changed.
 */
export interface Store<T> {
  readonly getSnapshot: () => T;
  /** Calls the listener after each change. @returns ends it */
  readonly subscribe: (listener: () => void) => () => void;
}

/** Those who watch one thing. A listener that throws stops nobody else: its error is reported like an uncaught one. */
export class Listeners<A extends readonly unknown[] = []> {
  readonly #listeners = new Set<{ call: (...args: A) => void }>();

  get size(): number {
    return this.#listeners.size;
  }

  /** @returns ends it; the same function added twice is called twice */
  add(call: (...args: A) => void): () => void {
    const entry = { call };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  notify(...args: A): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call(...args);
      } catch (error) {
        report(error);
      }
    }
  }
}

/** A store that its owner sets. */
export class Held<T> implements Store<T> {
  readonly #listeners = new Listeners();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly getSnapshot = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#listeners.notify();
  }
}

/** An error of somebody else's code: out of our way, and not swallowed. */
function report(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
