import * as z from 'zod';
import { canonicalJson, ChatError, type Json } from '../../protocol/index.js';
import { Turnstile } from '../turnstile.js';
import { mayBegin, readMessage, type ChatMessage } from './chat-message.js';
import { IndexError, ValueError } from './exceptions.js';
import { MessageChat, type Listed, type MessageChatOptions } from './message-chat.js';
import { isOwn } from './stored-message.js';
import { surplus } from './window.js';

const threadState = z.object({
  thread_id: z.string().min(1),
  key_prefix: z.string().default('chat_messages'),
  max_messages: z.int().min(1).nullable().default(null),
});
/** All that is needed to go on with a thread, and no secret. */
export type ThreadState = z.infer<typeof threadState>;

export interface ThreadChatMessageStoreOptions extends MessageChatOptions {
  /** Default, and for an empty one: `thread_` and a UUID. */
  readonly threadId?: string;
  /** Keeps programs apart: the key is `prefix:thread`; empty: the thread itself, which may be the id of a chat. Default: `chat_messages`. */
  readonly keyPrefix?: string;
  /** At most this many of the newest stay. Default, and null: all. */
  readonly maxMessages?: number | null;
  /** What a thread that has nothing begins with. */
  readonly messages?: readonly ChatMessage[];
}

/**
 * The Agent Framework's list store of Python (its Redis one), over a chat.
 *
 * `maxMessages` trims for good, as that store promises: the messages of the framework that are too old are deleted in the
 * chat, with the rest of the exchange that they began, though never the newest exchange. Those that people, assistants and
 * other frameworks wrote leave the list for good and stay in the chat: they are not this store's to delete. `clear` and `remove`
 * delete what they are told to. A list that was cut begins with no answer and no result of a call; it is empty where its
 * newest exchange alone is longer than `maxMessages`.
 */
export class ThreadChatMessageStore {
  readonly #options: ThreadChatMessageStoreOptions;
  readonly #turns = new Turnstile();
  readonly #first: readonly ChatMessage[];
  #isBegun = false;
  #state: ThreadState;
  #chat: MessageChat | null = null;

  /** @throws {ValueError} no commands, or a value that does not fit */
  constructor(options: ThreadChatMessageStoreOptions) {
    // What a program without types may leave out.
    if (!(options?.chats as unknown)) throw new ValueError('chats is required.');
    this.#options = options;
    const { threadId, keyPrefix, maxMessages, newId = () => crypto.randomUUID() } = options;
    this.#first = (options.messages ?? []).map((message) => readMessage(message, ValueError));
    this.#state = read(
      // An empty name is none, as in Python.
      { thread_id: threadId || `thread_${newId()}`, key_prefix: keyPrefix, max_messages: maxMessages },
      'This is no thread',
    );
  }

  /** A store that goes on where another one ended. @throws {ValueError} a state that is none */
  static deserialize(state: Json, options: ThreadChatMessageStoreOptions): ThreadChatMessageStore {
    const { thread_id, key_prefix, max_messages } = stateOf(state);
    return new ThreadChatMessageStore({
      ...options,
      threadId: thread_id,
      keyPrefix: key_prefix,
      maxMessages: max_messages,
    });
  }

  get threadId(): string {
    return this.#state.thread_id;
  }

  get keyPrefix(): string {
    return this.#state.key_prefix;
  }

  get maxMessages(): number | null {
    return this.#state.max_messages;
  }

  get key(): string {
    return this.keyPrefix === '' ? this.threadId : `${this.keyPrefix}:${this.threadId}`;
  }

  /** Adds messages at the end, all or none, then trims; none at all is no error. @throws {ValueError} what is no message @throws {ChatError} */
  async addMessages(messages: readonly ChatMessage[]): Promise<void> {
    if (!Array.isArray(messages)) throw new ValueError('messages: expected a sequence.');
    const added = messages.map((message) => readMessage(message, ValueError));
    if (added.length === 0) return;
    await this.#inOrder(async (chat) => {
      await chat.push(added);
      await this.#trim(chat);
    });
  }

  /** All that the thread holds, ascending. @throws {ChatError} */
  async listMessages(): Promise<ChatMessage[]> {
    return (await this.#list()).map(({ message }) => message);
  }

  async serializeState(): Promise<ThreadState> {
    return { ...this.#state };
  }

  /** Goes on with the thread of a state; nothing in place of one changes nothing. @throws {ValueError} a state that is none */
  async deserializeState(state: Json | undefined): Promise<void> {
    if (!state) return;
    this.#state = stateOf(state);
    this.#chat = null;
  }

  /** How many there are. @throws {ChatError} */
  async count(): Promise<number> {
    return (await this.#list()).length;
  }

  /** @throws {ValueError} what is no message @throws {ChatError} */
  append(message: ChatMessage): Promise<void> {
    return this.addMessages([message]);
  }

  /** @throws {ValueError} what is no message @throws {ChatError} */
  extend(messages: readonly ChatMessage[]): Promise<void> {
    return this.addMessages(messages);
  }

  /** The one at a place, from the end where it is below 0. @throws {IndexError} @throws {ChatError} */
  async getItem(index: number): Promise<ChatMessage> {
    return at(await this.#list(), index).message;
  }

  /** Puts another one there. @throws {IndexError} @throws {ValueError} what is no message @throws {ChatError} */
  async setItem(index: number, message: ChatMessage): Promise<void> {
    const read = readMessage(message, ValueError);
    await this.#inOrder(async (chat) => chat.replace(at(await this.#shown(chat), index).row, read));
  }

  /** The place of the first that is equal. @throws {ValueError} where none is @throws {ChatError} */
  async index(message: ChatMessage): Promise<number> {
    return placeOf(await this.#list(), message);
  }

  /** Deletes the first that is equal. @throws {ValueError} where none is @throws {ChatError} */
  async remove(message: ChatMessage): Promise<void> {
    await this.#inOrder(async (chat) => {
      const listed = await this.#shown(chat);
      await chat.delete([at(listed, placeOf(listed, message)).row]);
    });
  }

  /** Deletes all that the chat holds. @throws {ChatError} */
  async clear(): Promise<void> {
    await this.#inOrder(async (chat) => chat.delete(await chat.rows()));
  }

  /** Whether the chat can be reached. */
  async ping(): Promise<boolean> {
    try {
      await this.#options.chats.call('chat:list', { pageSize: 1 });
      return true;
    } catch {
      return false;
    }
  }

  /** Nothing is held open: the commands belong to whoever gave them. */
  async aclose(): Promise<void> {}

  #list(): Promise<Listed[]> {
    return this.#inOrder((chat) => this.#shown(chat));
  }

  async #shown(chat: MessageChat): Promise<Listed[]> {
    const { maxMessages: max } = this;
    const listed = max === null ? await chat.list() : await chat.end(max + 1);
    return listed.slice(surplus(listed, max, beginsList));
  }

  async #trim(chat: MessageChat): Promise<void> {
    const { maxMessages: max } = this;
    if (max === null || (await chat.end(max + 1)).length <= max) return;
    const listed = await chat.list();
    const newest = Math.max(0, listed.findLastIndex(beginsList));
    const cut = Math.min(surplus(listed, max, beginsList), newest);
    const stays = new Set(listed.slice(cut).map(({ row }) => row));
    const leave = listed.slice(0, cut).filter(({ row }) => !stays.has(row));
    await chat.delete(leave.map(({ row }) => row).filter(isOwn));
    // They would come back into the room that the others have left.
    const others = leave.filter(({ row }) => !isOwn(row));
    await chat.stand(others, new Map(others.map(({ row }) => [row, []])));
  }

  async #inOrder<T>(work: (chat: MessageChat) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      this.#chat ??= await MessageChat.ofKey(this.key, this.#options);
      await this.#begin(this.#chat);
      return work(this.#chat);
    });
  }

  /** Once, when the thread is first used, and only where it has nothing. */
  async #begin(chat: MessageChat): Promise<void> {
    if (this.#isBegun) return;
    if (this.#first.length > 0 && (await chat.end(1)).length === 0)
      await chat.pushOnce(this.#first).catch((error: unknown) => {
        if (!(error instanceof ChatError) || error.code !== 'conflict') throw error;
        // The thread had begun with them once and was cleared since.
        return chat.push(this.#first);
      });
    this.#isBegun = true;
  }
}

const beginsList = ({ message }: Listed): boolean => mayBegin(message);

const stateOf = (state: unknown): ThreadState => read(state, 'This is no state');

/** @throws {ValueError} which begins with the words given */
function read(state: unknown, refusal: string): ThreadState {
  const result = threadState.safeParse(state);
  if (result.success) return result.data;
  throw new ValueError(`${refusal}: ${z.prettifyError(result.error)}`);
}

/** @throws {IndexError} */
function at(listed: readonly Listed[], index: number): Listed {
  const found = listed.at(index);
  if (found && Number.isInteger(index)) return found;
  throw new IndexError(`list index out of range: ${index}`);
}

/** @throws {ValueError} */
function placeOf(listed: readonly Listed[], message: ChatMessage): number {
  const wanted = canonicalJson(readMessage(message, ValueError) as unknown as Json);
  const place = listed.findIndex((entry) => canonicalJson(entry.message as unknown as Json) === wanted);
  if (place === -1) throw new ValueError('This message is not in the list.');
  return place;
}
