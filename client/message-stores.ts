import type { Message } from '../protocol/index.js';
import { Listeners, type Store } from './store.js';

/**
 * A chat's messages one by one, so that a word which was added to one of them is news to those who watch that one, and to
 * nobody else. All stores show the same version of the chat at any moment: they read it, and are told afterwards.
 */
export class MessageStores {
  /** The list that the rest speaks of. */
  #indexed: readonly Message[] = [];
  #byId: ReadonlyMap<string, Message> = new Map();
  #ids: readonly string[] = [];
  #toldIds: readonly string[] = this.#ids;
  /** Changed, and not told yet. */
  readonly #changed = new Set<string>();
  readonly #watched = new Map<string, Listeners>();
  readonly #idListeners = new Listeners();

  /** The ids of the messages, in order: the same reference until one comes or goes. */
  readonly ids: Store<readonly string[]>;

  /**
   * @param current the chat's messages at this moment
   * @param watch keeps the chat followed for one who watches. @returns ends the following, and what it was given
   */
  constructor(
    private readonly current: () => readonly Message[],
    private readonly watch: (end: () => void) => () => void,
  ) {
    this.ids = {
      getSnapshot: () => {
        this.#index();
        return this.#ids;
      },
      subscribe: (listener) => this.watch(this.#addIds(listener)),
    };
  }

  /** One message; null while it is not held. */
  of(messageId: string): Store<Message | null> {
    return {
      getSnapshot: () => {
        this.#index();
        return this.#byId.get(messageId) ?? null;
      },
      subscribe: (listener) => this.watch(this.#add(messageId, listener)),
    };
  }

  /** To be called after each change of the chat: tells those whom it concerns. */
  tell(): void {
    if (this.#watched.size === 0 && this.#idListeners.size === 0) return;
    this.#index();
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const messageId of changed) this.#watched.get(messageId)?.notify();
    if (this.#ids === this.#toldIds) return;
    this.#toldIds = this.#ids;
    this.#idListeners.notify();
  }

  /** What has changed before one watches is no news to that one. */
  #addIds(listener: () => void): () => void {
    this.#index();
    if (this.#idListeners.size === 0) this.#toldIds = this.#ids;
    return this.#idListeners.add(listener);
  }

  #add(messageId: string, listener: () => void): () => void {
    this.#index();
    const listeners = this.#watched.get(messageId) ?? new Listeners();
    this.#watched.set(messageId, listeners);
    const end = listeners.add(listener);
    return () => {
      end();
      if (listeners.size === 0 && this.#watched.get(messageId) === listeners) this.#watched.delete(messageId);
    };
  }

  #index(): void {
    const next = this.current();
    const held = this.#indexed;
    if (next === held) return;
    this.#indexed = next;
    const isSameRow = next.length === held.length && next.every((one, at) => one.messageId === held[at]?.messageId);
    if (isSameRow) this.#replace(next.filter((one, at) => one !== held[at]));
    else this.#rebuild(next);
  }

  #replace(changed: readonly Message[]): void {
    // Written in place: nobody outside has the map, and a copy of thousands for each word would be felt.
    const byId = this.#byId as Map<string, Message>;
    for (const message of changed) {
      byId.set(message.messageId, message);
      if (this.#watched.has(message.messageId)) this.#changed.add(message.messageId);
    }
  }

  #rebuild(next: readonly Message[]): void {
    const before = this.#byId;
    const byId = new Map(next.map((message) => [message.messageId, message]));
    for (const messageId of this.#watched.keys()) {
      if (byId.get(messageId) !== before.get(messageId)) this.#changed.add(messageId);
    }
    this.#byId = byId;
    this.#ids = next.map(({ messageId }) => messageId);
  }
}
