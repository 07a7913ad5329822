import type { Chat } from './chat.js';
import type { ChatEvent, MessageChangeBody } from './event.js';
import { isJsonObject, type JsonObject } from './json.js';
import type { Message } from './message.js';
import { changePath, deepMerge, textAt } from './path.js';
import type { Position } from './position.js';
import type { StepSummary } from './step.js';
import { isEnded, type Turn } from './turn.js';

// The one fold: what events make of messages and of a chat's view. The server's buffer, a client's view, a recovered
// journal and the tests all use it; so they agree (DAT-4). Views and messages are values: nothing is changed in place.

/** An event that does not fit what is held: the holder missed something and has to ask again. */
export class FoldFault extends Error {}

/**
 * The message after a change of it. Pure: the message given stays what it was.
 *
 * @throws {FoldFault} on a closed message, or an append that starts elsewhere than the text held ends
 * @throws {PathFault} a path that the props do not allow
 */
export function foldMessage(message: Message, event: MessageChangeBody): Message {
  if (message.state === 'closed') throw new FoldFault(`message ${message.messageId} is closed`);
  const props = message.props;
  switch (event.type) {
    case 'message.appended': {
      const held = textAt(props, event.path);
      if (held.length !== event.from) throw new FoldFault(`append at ${event.from}, held are ${held.length} units`);
      return withProps(
        message,
        changePath(props, event.path, () => held + event.text),
      );
    }
    case 'message.replaced':
      return { ...message, type: event.messageType, props: event.props };
    case 'message.merged': {
      const merged = changePath(props, event.path, (held) => deepMerge(held, event.value));
      if (!isJsonObject(merged)) throw new FoldFault('props are an object');
      return { ...message, props: merged };
    }
    case 'message.set':
      return { ...message, props: changePath(props, event.path, () => event.value) };
    case 'message.closed':
      return { ...message, state: 'closed' };
  }
}

/** `{ ...message, props }` written out: a spread of so many fields costs thirty times as much, and every token needs one. */
const withProps = (message: Message, props: JsonObject): Message => ({
  messageId: message.messageId,
  chatId: message.chatId,
  requestId: message.requestId,
  role: message.role,
  type: message.type,
  props,
  blockId: message.blockId,
  threadId: message.threadId,
  stepId: message.stepId,
  assistantId: message.assistantId,
  sequence: message.sequence,
  state: message.state,
  metadata: message.metadata,
  createdAt: message.createdAt,
  updatedAt: message.updatedAt,
});

/** A chat as one who follows it sees it, at one position. */
export interface ChatView {
  readonly chat: Chat;
  readonly position: Position;
  /** Ascending by sequence. */
  readonly messages: readonly Message[];
  /** Whether the chat has messages older than the first one held. */
  readonly hasMore: boolean;
  readonly turns: ReadonlyMap<string, Turn>;
  readonly steps: ReadonlyMap<string, StepSummary>;
  readonly deleted: boolean;
}

/**
 * The view after the next event. Pure: the view given stays what it was, and what the event did not change is shared with
 * it, by reference.
 *
 * @throws {FoldFault} an event that is not the next one of this epoch, or does not fit
 * @throws {PathFault} a change at a path that the props do not allow
 */
export function foldChat(view: ChatView, event: ChatEvent): ChatView {
  if (event.epoch !== view.position.epoch || event.offset !== view.position.offset + 1) {
    throw new FoldFault(`event ${event.epoch}:${event.offset} after ${view.position.epoch}:${view.position.offset}`);
  }
  return { ...view, ...changes(view, event), position: { epoch: event.epoch, offset: event.offset } };
}

function changes(view: ChatView, event: ChatEvent): Partial<ChatView> {
  switch (event.type) {
    case 'turn.queued':
    case 'turn.started':
    case 'turn.ended':
      return { turns: withEntry(view.turns, event.turn.requestId, event.turn), ...stepsAfter(view, event.turn) };
    case 'message.created':
      return { messages: withMessage(view, event.message), chat: raiseActivity(view.chat, event.message) };
    case 'message.appended':
    case 'message.replaced':
    case 'message.merged':
    case 'message.set':
    case 'message.closed':
      return changedMessage(view, event.messageId, (message) => foldMessage(message, event));
    case 'message.updated':
      return {
        messages: view.messages.map((held) => (held.messageId === event.message.messageId ? event.message : held)),
      };
    case 'message.deleted': {
      const gone = new Set(event.messageIds);
      return { messages: view.messages.filter((held) => !gone.has(held.messageId)) };
    }
    case 'step.started':
    case 'step.ended':
      return { steps: withEntry(view.steps, event.step.stepId, event.step) };
    case 'chat.updated':
      return { chat: event.chat };
    case 'chat.deleted':
      return { messages: [], turns: new Map(), steps: new Map(), hasMore: false, deleted: true };
    case 'turn.persisted':
      return {};
    default:
      return {}; // a newer server's event: clients ignore what they do not know
  }
}

/**
 * With one more, at the place of its sequence: it may be told of later than others behind it. One that is held under its
 * id already gives way to it.
 */
function withMessage({ messages, hasMore }: ChatView, message: Message): readonly Message[] {
  const isIt = ({ messageId }: Message): boolean => messageId === message.messageId;
  const others = messages.some(isIt) ? messages.filter((held) => !isIt(held)) : messages;
  const index = others.findLastIndex(({ sequence }) => sequence < message.sequence) + 1;
  const isOlder = index === 0 && others.length > 0 && hasMore;
  return isOlder ? others : others.toSpliced(index, 0, message);
}

/** A message is the chat's last activity, unless a later one came before it. */
export function raiseActivity(chat: Chat, { createdAt }: Pick<Message, 'createdAt'>): Chat {
  const isLater = chat.lastMessageAt === null || createdAt > chat.lastMessageAt;
  return isLater ? { ...chat, lastMessageAt: createdAt } : chat;
}

/** Live steps matter while their turn runs; an ended turn's are read where they are stored. */
function stepsAfter(view: ChatView, turn: Turn): Partial<ChatView> {
  if (!isEnded(turn.status) || view.steps.size === 0) return {};
  return { steps: new Map([...view.steps].filter(([, step]) => step.requestId !== turn.requestId)) };
}

function changedMessage(view: ChatView, messageId: string, change: (message: Message) => Message): Partial<ChatView> {
  const index = view.messages.findLastIndex((held) => held.messageId === messageId);
  const held = view.messages[index];
  if (held === undefined) {
    if (view.hasMore) return {}; // older than what is held
    throw new FoldFault(`message ${messageId} is not held`);
  }
  const messages = view.messages.slice();
  messages[index] = change(held);
  return { messages };
}

function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}
