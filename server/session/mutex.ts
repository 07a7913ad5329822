/** Runs one piece of work after another, in the order asked. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** Waits for all that was asked for before; null where there is nothing to wait for. What is asked for next comes after. */
  settled(): Promise<void> | null {
    return this.isIdle ? null : this.run(async () => undefined);
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const result = this.#tail.then(work).finally(() => this.#waiting--);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
