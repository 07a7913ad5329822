import type { Chat, Incoming } from './chat.js';
import { Interned } from './interned.js';

/**
 * The chats of a client: one object per id, as long as anybody has it. Chats in use hear the connection. Of those left,
 * the last few keep what they showed, so that coming back shows it at once; the others forget it, and go with their last
 * reference.
 */
export class ChatRegistry {
  readonly #inUse = new Map<string, Chat>();
  /** Left, the longest ago first. */
  readonly #left = new Map<string, Chat>();
  readonly #known = new Interned<Chat>();
  readonly #incoming = new WeakMap<Chat, Incoming>();

  /** @param maxLeft chats not in use that keep their views */
  constructor(private readonly maxLeft: number) {}

  get(chatId: string, create: () => Chat): Chat {
    return this.#known.get(chatId, create);
  }

  wire(chat: Chat, incoming: Incoming): void {
    this.#incoming.set(chat, incoming);
  }

  used(chat: Chat, inUse: boolean): void {
    const { chatId } = chat;
    this.#left.delete(chatId);
    if (inUse) {
      this.#inUse.set(chatId, chat);
      return;
    }
    this.#inUse.delete(chatId);
    this.#left.set(chatId, chat);
    for (const [oldestId, oldest] of this.#left) {
      if (this.#left.size <= this.maxLeft) break;
      this.#left.delete(oldestId);
      this.#incoming.get(oldest)?.forget();
    }
  }

  /** Whether this holds for each chat in use. */
  every(holds: (chat: Chat) => boolean): boolean {
    return [...this.#inUse.values()].every(holds);
  }

  /** The end of the connection of a chat in use. */
  incoming(chatId: string): Incoming | undefined {
    const chat = this.#inUse.get(chatId);
    return chat && this.#incoming.get(chat);
  }

  forEach(visit: (incoming: Incoming) => void): void {
    for (const chat of [...this.#inUse.values()]) {
      const incoming = this.#incoming.get(chat);
      if (incoming) visit(incoming);
    }
  }
}
