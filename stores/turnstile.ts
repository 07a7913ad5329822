/**
 * Runs works one after the other, in the order of asking. One that is asked for while nothing goes on runs at once, before
 * `run` returns, so that what needs no waiting can be seen without waiting.
 */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Settles as `work` does. Work that gives a promise holds up what comes after, until it is settled. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    if (!this.#isBusy) return this.#start(work);
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#start(work))));
  }

  async #start<T>(work: () => T | Promise<T>): Promise<T> {
    const result = work();
    if (!(result instanceof Promise)) return result;
    this.#isBusy = true;
    try {
      return await result;
    } finally {
      // Before anybody hears of the end: what they ask for then comes behind what waits.
      this.#next();
    }
  }

  #next(): void {
    this.#isBusy = false;
    while (!this.#isBusy) {
      const start = this.#waiting.shift();
      if (!start) return;
      start();
    }
  }
}
