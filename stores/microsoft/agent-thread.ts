import * as z from 'zod';
import { json, type Json } from '../../protocol/index.js';
import type { ChatMessage } from './chat-message.js';
import { AgentThreadException } from './exceptions.js';
import { MemoryChatMessageStore } from './memory-chat-message-store.js';

/** What a thread asks of a store; both of the stores of this room answer it. */
export interface AgentMessageStore {
  addMessages(messages: readonly ChatMessage[]): Promise<void>;
  listMessages(): Promise<ChatMessage[]>;
  serializeState(): Promise<Json>;
}

/** What a store is made from. */
export interface FactoryContext {
  /** What its `serializeState` gave; undefined: a new thread. A factory that leaves it aside begins anew at each resume. */
  readonly serializedState?: Json | undefined;
}

export type MessageStoreFactory = (context: FactoryContext) => AgentMessageStore;

const threadState = z.object({
  service_thread_id: z.string().nullable().default(null),
  chat_message_store_state: json.optional(),
});
export interface AgentThreadState {
  readonly service_thread_id: string | null;
  readonly chat_message_store_state: Json;
}

/** A conversation of an agent: kept by the service of its model under an id, or here in a store; never both. */
export class AgentThread {
  #serviceThreadId: string | null = null;
  #messageStore: AgentMessageStore | null = null;

  /** @throws {AgentThreadException} both */
  constructor(
    parts: { readonly serviceThreadId?: string | null; readonly messageStore?: AgentMessageStore | null } = {},
  ) {
    this.serviceThreadId = parts.serviceThreadId ?? null;
    this.messageStore = parts.messageStore ?? null;
  }

  get serviceThreadId(): string | null {
    return this.#serviceThreadId;
  }

  /** Nothing in place of an id changes nothing. @throws {AgentThreadException} a thread that has a store */
  set serviceThreadId(id: string | null) {
    if (id === null || id === '') return;
    if (this.#messageStore)
      throw new AgentThreadException('The thread has a message store; it can have no service thread id.');
    this.#serviceThreadId = id;
  }

  get messageStore(): AgentMessageStore | null {
    return this.#messageStore;
  }

  /** Nothing in place of a store changes nothing. @throws {AgentThreadException} a thread that has an id */
  set messageStore(store: AgentMessageStore | null) {
    if (store === null) return;
    if (this.#serviceThreadId !== null)
      throw new AgentThreadException('The thread has a service thread id; it can have no message store.');
    this.#messageStore = store;
  }

  get isInitialized(): boolean {
    return this.#serviceThreadId !== null || this.#messageStore !== null;
  }

  /** Keeps new messages, in a store that it makes where it has none; a service keeps its own. @throws {AgentThreadException} what the store threw is its cause */
  async onNewMessages(messages: ChatMessage | readonly ChatMessage[]): Promise<void> {
    if (this.#serviceThreadId !== null) return;
    this.#messageStore ??= new MemoryChatMessageStore();
    const added: readonly ChatMessage[] = 'role' in messages ? [messages] : messages;
    try {
      await this.#messageStore.addMessages(added);
    } catch (error) {
      throw new AgentThreadException(`The messages could not be kept: ${String(error)}`, { cause: error });
    }
  }

  async serialize(): Promise<AgentThreadState> {
    return {
      service_thread_id: this.#serviceThreadId,
      chat_message_store_state: (await this.#messageStore?.serializeState()) ?? null,
    };
  }

  /** A thread that goes on. Without a factory its messages are those of the state itself. @throws {AgentThreadException} a state that is none */
  static deserialize(state: Json, factory?: MessageStoreFactory): AgentThread {
    const result = threadState.safeParse(state);
    if (!result.success) throw new AgentThreadException(`This is no state: ${z.prettifyError(result.error)}`);
    const { service_thread_id: serviceThreadId, chat_message_store_state: serializedState = null } = result.data;
    if (serviceThreadId !== null) return new AgentThread({ serviceThreadId });
    if (serializedState === null) return new AgentThread(factory ? { messageStore: factory({}) } : {});
    try {
      const messageStore = factory?.({ serializedState }) ?? new MemoryChatMessageStore(serializedState);
      return new AgentThread({ messageStore });
    } catch (error) {
      throw new AgentThreadException(`The store could not be made from its state: ${String(error)}`, { cause: error });
    }
  }
}
