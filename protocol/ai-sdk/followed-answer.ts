import type { ChatEvent, MessageChange } from '../event.js';
import { foldMessage } from '../fold.js';
import type { Message } from '../message.js';
import type { Signal } from '../presence.js';
import { isEnded, type Turn } from '../turn.js';
import { AnswerStream } from './answer-stream.js';
import type { UiChunk, UiMajor } from './chunk.js';

/** Messages of a turn, and the place in the chat's log that they speak of. */
export interface AnswerPage {
  readonly messages: readonly Message[];
  readonly offset: number;
}

/** One turn of a chat that is followed: its events, folded, as the chunks of {@link AnswerStream}. */
export class FollowedAnswer {
  readonly #stream: AnswerStream;
  readonly #messages = new Map<string, Message>();
  /** Messages that were read later than the events that are still to come → how much later. */
  readonly #readAt = new Map<string, number>();

  constructor(
    private readonly turn: Turn,
    major: UiMajor,
  ) {
    this.#stream = new AnswerStream(turn, major);
  }

  /** All that stands, and the end where the turn has ended. */
  begin(...pages: readonly AnswerPage[]): UiChunk[] {
    for (const { messages, offset } of pages) {
      for (const message of messages) {
        if (!this.#isMine(message)) continue;
        this.#messages.set(message.messageId, message);
        this.#readAt.set(message.messageId, offset);
      }
    }
    const inOrder = [...this.#messages.values()].sort((a, b) => a.sequence - b.sequence);
    return [...this.#stream.begin(inOrder), ...this.#endOf(this.turn)];
  }

  /** The next event of the chat. @throws {FoldFault} */
  event(event: ChatEvent): UiChunk[] {
    switch (event.type) {
      case 'turn.ended':
        return event.turn.requestId === this.turn.requestId ? this.#stream.end(event.turn) : [];
      case 'message.created':
        return this.#isMine(event.message) && !this.#isOld(event.message.messageId, event.offset)
          ? this.#put(event.message)
          : [];
      case 'message.appended':
      case 'message.replaced':
      case 'message.merged':
      case 'message.set':
      case 'message.closed':
        return this.#changed(event);
      case 'message.updated':
        return this.#messages.has(event.message.messageId) && !this.#isOld(event.message.messageId, event.offset)
          ? this.#put(event.message)
          : [];
      case 'message.deleted':
        for (const messageId of event.messageIds) this.#messages.delete(messageId);
        return this.#stream.remove(event.messageIds);
      case 'chat.deleted':
        return this.#stream.fail('The chat was deleted.');
      default:
        return [];
    }
  }

  /** A live hint (SUB-8): of the moment, and no part of the message. */
  signal({ requestId, name, data }: Signal): UiChunk[] {
    const isMine = requestId === this.turn.requestId && !this.#stream.isOver;
    return isMine ? [{ type: `data-${name}`, data, transient: true }] : [];
  }

  get isOver(): boolean {
    return this.#stream.isOver;
  }

  /**
   * Events were missed: how things stand now. @param first the sequence from which on the page says all; what is held
   * of lower ones stays
   */
  again(turn: Turn, { messages, offset }: AnswerPage, first: number): UiChunk[] {
    const page = messages.filter((message) => this.#isMine(message));
    const there = new Set(page.map(({ messageId }) => messageId));
    const gone = [...this.#messages.values()].filter(
      ({ messageId, sequence }) => sequence >= first && !there.has(messageId),
    );
    for (const { messageId } of gone) this.#messages.delete(messageId);
    const removed = this.#stream.remove(gone.map(({ messageId }) => messageId));
    const put = page.flatMap((message) => {
      this.#readAt.set(message.messageId, offset);
      return this.#put(message);
    });
    return [...removed, ...put, ...this.#endOf(turn)];
  }

  /** The stream ends before its turn. */
  fail(errorText: string): UiChunk[] {
    return this.#stream.fail(errorText);
  }

  #endOf(turn: Turn): UiChunk[] {
    return isEnded(turn.status) ? this.#stream.end(turn) : [];
  }

  #isMine({ requestId, role }: Message): boolean {
    return requestId === this.turn.requestId && role === 'assistant';
  }

  #isOld(messageId: string, offset: number): boolean {
    return offset <= (this.#readAt.get(messageId) ?? 0);
  }

  #changed(event: MessageChange & { readonly offset: number }): UiChunk[] {
    const held = this.#messages.get(event.messageId);
    return held && !this.#isOld(event.messageId, event.offset) ? this.#put(foldMessage(held, event)) : [];
  }

  #put(message: Message): UiChunk[] {
    this.#messages.set(message.messageId, message);
    return this.#stream.put(message);
  }
}
