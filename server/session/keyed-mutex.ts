import { Mutex } from './mutex.js';

/** One mutex for each key, as long as somebody needs it. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  /** Whether something runs under the key, or waits to. */
  isHeld(key: string): boolean {
    return this.#mutexes.has(key);
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.run(work);
    } finally {
      if (mutex.isIdle && this.#mutexes.get(key) === mutex) this.#mutexes.delete(key);
    }
  }
}
