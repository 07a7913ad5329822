/** Runs what is asked of one key after the other, in the order of asking; keys do not wait for each other. */
export class Serial {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Settles as `work` does. What went wrong before does not hold up what comes after. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return result;
  }
}
