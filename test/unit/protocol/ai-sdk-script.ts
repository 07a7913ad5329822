import {
  foldMessage,
  textAt,
  type ChatEvent,
  type EventBody,
  type Json,
  type JsonObject,
  type Message,
  type Turn,
} from '../../../protocol/index.js';
import { AT, CHAT, messageRow, turnRow } from '../client/rows.js';

/** What a turn comes to, as events of its chat, written the way an assistant acts. */
export class Script {
  readonly events: ChatEvent[] = [];
  /** What stands after all events. */
  readonly messages = new Map<string, Message>();
  turn: Turn = turnRow('turn-1', { status: 'running', assistantId: 'echo' });

  /** Opens a message. @returns its id */
  send(type: string, props: JsonObject, more: Partial<Message> = {}): string {
    const sequence = this.messages.size + this.#gone + 2;
    const message = messageRow(sequence, { type, props, state: 'open', ...more });
    this.#add({ type: 'message.created', message });
    return message.messageId;
  }

  /** A message that is closed at once. */
  say(type: string, props: JsonObject, more: Partial<Message> = {}): string {
    const messageId = this.send(type, props, more);
    this.end(messageId);
    return messageId;
  }

  append(messageId: string, text: string, path = 'content'): void {
    const from = textAt(this.#held(messageId).props, path).length;
    this.#add({ type: 'message.appended', messageId, path, from, text });
  }

  replace(messageId: string, messageType: string, props: JsonObject): void {
    this.#add({ type: 'message.replaced', messageId, messageType, props });
  }

  merge(messageId: string, value: Json, path = ''): void {
    this.#add({ type: 'message.merged', messageId, path, value });
  }

  set(messageId: string, path: string, value: Json): void {
    this.#add({ type: 'message.set', messageId, path, value });
  }

  end(messageId: string): void {
    this.#add({ type: 'message.closed', messageId });
  }

  /** Somebody edits a closed message. */
  edit(messageId: string, change: Partial<Message>): void {
    this.#add({ type: 'message.updated', message: { ...this.#held(messageId), ...change } });
  }

  remove(...messageIds: string[]): void {
    this.#add({ type: 'message.deleted', messageIds });
  }

  /** The end of the turn; what is open is closed before. */
  over(change: Partial<Turn> = { status: 'completed', usage: { inputTokens: 3 } }): this {
    for (const { messageId, state } of this.messages.values()) if (state === 'open') this.end(messageId);
    this.turn = { ...this.turn, ...change, endedAt: AT };
    this.#add({ type: 'turn.ended', turn: this.turn, persisted: true });
    return this;
  }

  /** The messages as they stand after so many events. */
  after(count: number): Message[] {
    const script = new Script();
    for (const event of this.events.slice(0, count)) script.#fold(event);
    return [...script.messages.values()].sort((a, b) => a.sequence - b.sequence);
  }

  #gone = 0;

  #held(messageId: string): Message {
    const held = this.messages.get(messageId);
    if (!held) throw new Error(`there is no ${messageId}`);
    return held;
  }

  #add(body: EventBody): void {
    const event = { chatId: CHAT, epoch: 'e', offset: this.events.length + 1, at: AT, requestId: 'turn-1', ...body };
    this.events.push(event);
    this.#fold(event);
  }

  #fold(event: ChatEvent): void {
    switch (event.type) {
      case 'message.created':
      case 'message.updated':
        this.messages.set(event.message.messageId, event.message);
        return;
      case 'message.appended':
      case 'message.replaced':
      case 'message.merged':
      case 'message.set':
      case 'message.closed':
        this.messages.set(event.messageId, foldMessage(this.#held(event.messageId), event));
        return;
      case 'message.deleted':
        for (const messageId of event.messageIds) if (this.messages.delete(messageId)) this.#gone++;
        return;
      default:
        return;
    }
  }
}
