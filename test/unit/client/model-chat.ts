import {
  foldChat,
  type ChatEvent,
  type ChatView,
  type EventBody,
  type Message,
  type Position,
  type SubscribeResult,
} from '../../../protocol/index.js';
import { AT, CHAT, chatRow, messageRow, turnRow } from './rows.js';

/** Events that the model's log keeps: few, so that snapshots happen. */
const KEPT_EVENTS = 12;
const SNAPSHOT_MESSAGES = 4;

/** A chat as the server has it: what the fold of its log says, at every position there ever was. */
export class ModelChat {
  view: ChatView = {
    chat: chatRow(),
    position: { epoch: 'e1', offset: 0 },
    messages: [],
    hasMore: false,
    turns: new Map(),
    steps: new Map(),
    deleted: false,
  };
  readonly #at = new Map<string, ChatView>();
  #kept: ChatEvent[] = [];
  #nextSequence = 1;

  constructor() {
    this.#remember();
  }

  /** The view at a position. */
  at({ epoch, offset }: Position): ChatView {
    const view = this.#at.get(`${epoch}:${offset}`);
    if (!view) throw new Error(`there was no position ${epoch}:${offset}`);
    return view;
  }

  emit(body: EventBody): ChatEvent {
    const { epoch, offset } = this.view.position;
    const event = { ...body, chatId: CHAT, epoch, offset: offset + 1, at: AT };
    this.view = foldChat(this.view, event);
    this.#kept = [...this.#kept, event].slice(-KEPT_EVENTS);
    this.#remember();
    return event;
  }

  /** One of the things that can happen in a chat; `pick` says to what. */
  happen(kind: number, pick: number): ChatEvent {
    const open = this.view.messages.filter(({ state }) => state === 'open');
    const closed = this.view.messages.filter(({ state }) => state === 'closed');
    const one = <T>(list: readonly T[]): T | undefined => list[pick % Math.max(1, list.length)];
    const [opened, ended, any] = [one(open), one(closed), one(this.view.messages)];
    if (kind <= 1 && opened) return this.emit(append(opened, `${pick} `));
    if (kind === 2 && opened) return this.emit({ type: 'message.closed', messageId: opened.messageId });
    if (kind === 3 && opened) {
      const { messageId } = opened;
      return this.emit({ type: 'message.replaced', messageId, messageType: 'text', props: { content: `new ${pick}` } });
    }
    if (kind === 4 && ended)
      return this.emit({ type: 'message.updated', message: { ...ended, props: { content: `edit ${pick}` } } });
    if (kind === 5 && any) return this.emit({ type: 'message.deleted', messageIds: [any.messageId] });
    if (kind === 6) return this.emit({ type: 'chat.updated', chat: chatRow({ title: `title ${pick}` }) });
    if (kind === 7)
      return this.emit({ type: 'turn.started', turn: turnRow(`turn-${pick % 3}`, { attempt: 1 + pick }) });
    const message = messageRow(this.#nextSequence++, {
      state: pick % 3 === 0 ? 'closed' : 'open',
      requestId: `turn-${pick % 3}`,
    });
    return this.emit({ type: 'message.created', message });
  }

  /** The log is lost: what it said stands, under a new epoch. */
  loseLog(epoch: string): void {
    this.#kept = [];
    this.view = { ...this.view, position: { epoch, offset: 0 } };
    this.#remember();
  }

  /** The answer to a subscription (SUB-1, SUB-2). */
  subscribe(from: Position | undefined): SubscribeResult {
    const { chat, position, messages, turns } = this.view;
    const common = { chat, position, presence: [] };
    const missed = position.offset - (from?.offset ?? 0);
    if (from?.epoch === position.epoch && missed >= 0 && missed <= this.#kept.length) {
      return { ...common, mode: 'replay', events: this.#kept.slice(this.#kept.length - missed) };
    }
    const oldestOpen = messages.findIndex(({ state }) => state === 'open');
    const count = Math.max(SNAPSHOT_MESSAGES, oldestOpen < 0 ? 0 : messages.length - oldestOpen);
    const page = messages.slice(-count);
    return {
      ...common,
      mode: 'snapshot',
      messages: page,
      hasMore: page.length < messages.length,
      turns: [...turns.values()],
    };
  }

  list(before: number, limit: number): { messages: Message[]; hasMore: boolean; position: Position } {
    const below = this.view.messages.filter(({ sequence }) => sequence < before);
    const page = below.slice(-limit);
    return { messages: page, hasMore: page.length < below.length, position: this.view.position };
  }

  #remember(): void {
    const { epoch, offset } = this.view.position;
    this.#at.set(`${epoch}:${offset}`, this.view);
  }
}

function append({ messageId, props }: Message, text: string): EventBody {
  const held = props['content'];
  return {
    type: 'message.appended',
    messageId,
    path: 'content',
    from: typeof held === 'string' ? held.length : 0,
    text,
  };
}
