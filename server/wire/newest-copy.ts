/**
 * Starts that wait for their time, by user and requestId. A client whose connection was lost sends them again on the next
 * one. If the copy there is refused, the older one must not be served after all (TRN-2): nobody hears its answer.
 */
export class NewestCopy {
  readonly #newest = new Map<string, object>();

  /** @returns to be called when its time has come: whether no newer copy came meanwhile */
  add(key: string): () => boolean {
    const copy = {};
    this.#newest.set(key, copy);
    return () => {
      const isNewest = this.#newest.get(key) === copy;
      if (isNewest) this.#newest.delete(key);
      return isNewest;
    };
  }
}
