import type { ChatError } from '../protocol/index.js';
import { LOADING, type ReadState } from './read-state.js';
import { Held, type Store } from './store.js';

/**
 * Asks the server one thing, one question at a time: who asks during a question has it asked once more, because what is
 * on its way may be older than the reason to ask.
 */
export class Reader<T> {
  readonly #state = new Held<ReadState<T>>(LOADING);
  #asking = false;
  #again = false;

  constructor(private readonly read: () => Promise<T>) {}

  get state(): Store<ReadState<T>> {
    return this.#state;
  }

  /** Asks (again). What was read before stays until the answer is there. */
  ask(): void {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#asking = true;
    this.#again = false;
    this.read().then(
      (value) => this.#answered({ status: 'read', value, error: null }),
      (error: ChatError) => this.#answered({ status: 'refused', value: this.#state.getSnapshot().value, error }),
    );
  }

  #answered(state: ReadState<T>): void {
    this.#asking = false;
    const again = this.#again;
    this.#state.set(state);
    if (again) this.ask();
  }
}
