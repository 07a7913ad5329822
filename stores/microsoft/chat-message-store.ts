import type { Json } from '../../protocol/index.js';
import { Turnstile } from '../turnstile.js';
import { mayBegin, readMessage, textOf, type ChatMessage } from './chat-message.js';
import { ArgumentException, ArgumentNullException } from './exceptions.js';
import { MessageChat, type MessageChatOptions } from './message-chat.js';
import { standingsOf, type ChatReducer } from './reduction.js';
import { surplus } from './window.js';

/** When a reducer runs. */
export type ReducerTrigger = 'beforeMessagesRetrieval' | 'afterMessageAdded';

export interface ChatMessageStoreOptions extends MessageChatOptions {
  /** What `serialize` gave; a text is the key of the thread, anything else begins a new one. */
  readonly serializedState?: Json | undefined;
  /** At most this many of the newest are given; the chat keeps all. Default, and null: all. */
  readonly maxMessages?: number | null;
  readonly reducer?: ChatReducer;
  /** Default: `beforeMessagesRetrieval`. */
  readonly reducerTrigger?: ReducerTrigger;
}

/**
 * The `ChatMessageStore` of the Agent Framework in .NET, over a chat.
 *
 * Its key is null until something is added; it is all that its state holds. A key that may be the id of a chat is that of
 * the chat, so a store of any chat is `ChatMessageStore.fromState(chatId, …)`.
 *
 * Whatever limits the list (`maxMessages`, a reducer) limits what a model is given, never what the chat holds and people
 * see. A list that was cut begins with no answer and no result of a call.
 */
export class ChatMessageStore {
  readonly #options: ChatMessageStoreOptions;
  readonly #maxMessages: number | null;
  readonly #turns = new Turnstile();
  #key: string | null;
  #chat: MessageChat | null = null;

  /** @throws {ArgumentNullException} no commands @throws {ArgumentException} a bound that is none */
  constructor(options: ChatMessageStoreOptions) {
    // What a program without types may leave out.
    if (!(options?.chats as unknown)) throw new ArgumentNullException('chats');
    const { serializedState, maxMessages = null } = options;
    if (maxMessages !== null && !(Number.isInteger(maxMessages) && maxMessages > 0))
      throw new ArgumentException('maxMessages: expected a whole number above 0, or null.');
    this.#options = options;
    this.#maxMessages = maxMessages;
    this.#key = typeof serializedState === 'string' && serializedState !== '' ? serializedState : null;
  }

  /** A store that goes on where another one ended. */
  static fromState(state: Json, options: ChatMessageStoreOptions): ChatMessageStore {
    return new ChatMessageStore({ ...options, serializedState: state });
  }

  /** Names the thread; null: nothing was added as yet. */
  get key(): string | null {
    return this.#key;
  }

  /**
   * Adds messages at the end, all or none; none at all is no error. One whose id is in the thread already takes the place of
   * that one; those without an id never do.
   *
   * @throws {ArgumentNullException} null
   * @throws {ArgumentException} what is no sequence, or holds what is no message; nothing is added then
   * @throws {ChatError}
   */
  async addMessages(messages: Iterable<ChatMessage>): Promise<void> {
    if (!(messages as unknown)) throw new ArgumentNullException('messages');
    // One message is no sequence of them: as a list it would be empty, and lost without a word.
    if (!(Symbol.iterator in Object(messages))) throw new ArgumentException('messages: expected a sequence.');
    const added = Array.from(messages, (message) => readMessage(message, ArgumentException));
    if (added.length === 0) return;
    this.#key ??= (this.#options.newId?.() ?? crypto.randomUUID()).replaceAll('-', '');
    await this.#inOrder(async (chat) => {
      await chat.upsert(added);
      if (this.#options.reducerTrigger === 'afterMessageAdded') await this.#reduce(chat);
    });
  }

  /** The messages for a model, ascending. @throws {ChatError} */
  async getMessages(): Promise<ChatMessage[]> {
    if (this.#key === null) return [];
    return this.#inOrder(async (chat) => {
      const { reducer, reducerTrigger = 'beforeMessagesRetrieval' } = this.#options;
      if (reducer && reducerTrigger === 'beforeMessagesRetrieval') await this.#reduce(chat);
      const max = this.#maxMessages;
      const listed = max === null ? await chat.list() : await chat.end(max + 1);
      const messages = listed.map(({ message }) => message);
      return messages.slice(surplus(messages, max, mayBegin));
    });
  }

  /** Those of all messages whose text holds every one of the words, in any case; of these the newest, ascending. @throws {ChatError} */
  async search(words: string, limit = 10): Promise<ChatMessage[]> {
    const wanted = words.toLowerCase().split(/\s+/u).filter(Boolean);
    if (this.#key === null || wanted.length === 0 || limit < 1) return [];
    return this.#inOrder(async (chat) => {
      const found = (await chat.list())
        .map(({ message }) => message)
        .filter((message) => {
          const text = textOf(message).toLowerCase();
          return wanted.every((word) => text.includes(word));
        });
      return found.slice(-limit);
    });
  }

  /** The key: all that is needed to go on, and no secret. */
  serialize(): string | null {
    return this.#key;
  }

  /** This store where it is of the class, else undefined. */
  getService<T>(type: abstract new (...args: never[]) => T): T | undefined {
    return this instanceof type ? this : undefined;
  }

  /** The spelling of `getMessages` that an `AgentThread` knows. */
  listMessages(): Promise<ChatMessage[]> {
    return this.getMessages();
  }

  /** The spelling of `serialize` that an `AgentThread` knows. */
  async serializeState(): Promise<Json> {
    return this.serialize();
  }

  /** The list is what the reducer makes of it; what it leaves out stays in the chat. */
  async #reduce(chat: MessageChat): Promise<void> {
    const { reducer } = this.#options;
    if (!reducer) return;
    const listed = await chat.list();
    const reduced = await reducer.reduce(listed.map(({ message }) => message));
    const own = new Set(listed.map(({ message }) => message));
    const read = reduced.map((message) => (own.has(message) ? message : readMessage(message, ArgumentException)));
    await chat.stand(listed, standingsOf(listed, read));
  }

  async #inOrder<T>(work: (chat: MessageChat) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      this.#chat ??= await MessageChat.ofKey(this.#key ?? '', this.#options);
      return work(this.#chat);
    });
  }
}
