import * as z from 'zod';
import type { Json } from '../../protocol/index.js';
import { chatMessage, readMessage, type ChatMessage } from './chat-message.js';
import { ValueError } from './exceptions.js';

const memoryState = z.object({ messages: z.array(chatMessage).nullable().optional() });

/** What a thread has that was given no store: a list that lives as long as it does, and goes with its state. */
export class MemoryChatMessageStore {
  readonly #messages: ChatMessage[];

  /** @throws {ValueError} a state that is none */
  constructor(state?: Json) {
    const result = memoryState.safeParse(state ?? {});
    if (!result.success) throw new ValueError(`This is no state: ${z.prettifyError(result.error)}`);
    this.#messages = [...(result.data.messages ?? [])];
  }

  /** @throws {ValueError} what is no list of messages; nothing is added */
  async addMessages(messages: readonly ChatMessage[]): Promise<void> {
    if (!Array.isArray(messages)) throw new ValueError('messages: expected a sequence.');
    this.#messages.push(...messages.map((message) => readMessage(message, ValueError)));
  }

  async listMessages(): Promise<ChatMessage[]> {
    return [...this.#messages];
  }

  async serializeState(): Promise<Json> {
    // Messages are JSON by `readMessage`, which their type cannot say.
    return { messages: this.#messages as unknown as Json };
  }
}
