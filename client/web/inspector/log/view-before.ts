import {
  changePath,
  isEnded,
  type ChatEvent,
  type ChatView,
  type Message,
  type Turn,
} from '../../../../protocol/index.js';
import { requestIdOf } from './entry.js';

/** What could be found out of a view that no snapshot tells of. */
export interface Before {
  /** Just before the first event. */
  readonly view: ChatView;
  /**
   * Messages that were there then, or may have been, and are left out of it: an event replaced what they held, so that
   * it cannot be known.
   */
  readonly unknown: readonly string[];
  /** From which offset on all of them are known; null: none is unknown. */
  readonly wholeFrom: number | null;
  /** Those of them that are there at that offset, as they stand there. */
  readonly known: readonly Message[];
}

type TurnEvent = Extract<ChatEvent, { turn: Turn }>;

/**
 * Goes back from a snapshot over the events that led to it. Where an event can be undone (a text was added, a message was
 * closed) it is; where it cannot, the message is left out. So whatever stands in the view did stand there.
 *
 * @param events consecutive, the last one at the snapshot's position; not empty
 */
export function viewBefore(snapshot: ChatView, events: readonly ChatEvent[]): Before {
  const told = tellingsOf(events);
  const messages: Message[] = [];
  const hidden: Message[] = [];
  let wholeFrom = -1;
  for (const message of snapshot.messages) {
    const { isBorn, blindUntil, undoable } = told.get(message.messageId) ?? UNTOLD;
    if (isBorn) continue;
    const before = undone(message, undoable);
    if (before && blindUntil === undefined) messages.push(before);
    else hidden.push(message);
    if (!before) wholeFrom = snapshot.position.offset;
  }
  const unknown = new Set(hidden.map(({ messageId }) => messageId));
  for (const [messageId, { isBorn, blindUntil }] of told) {
    if (isBorn || blindUntil === undefined) continue;
    wholeFrom = Math.max(wholeFrom, blindUntil);
    unknown.add(messageId);
  }
  const known = hidden.map((message) => {
    const { undoable } = told.get(message.messageId) ?? UNTOLD;
    return (
      undone(
        message,
        undoable.filter(({ offset }) => offset > wholeFrom),
      ) ?? message
    );
  });
  const view = chatBefore(snapshot, events, messages, snapshot.hasMore || unknown.size > 0);
  return { view, unknown: [...unknown], wholeFrom: wholeFrom < 0 ? null : wholeFrom, known };
}

/** The view before the events, of messages that are known. Steps that ran then are not: no snapshot names them. */
function chatBefore(
  { chat, position, turns }: ChatView,
  events: readonly ChatEvent[],
  messages: readonly Message[],
  hasMore: boolean,
): ChatView {
  const lastMessageAt = messages.at(-1)?.createdAt ?? (hasMore ? chat.lastMessageAt : null);
  return {
    chat: { ...chat, lastMessageAt },
    position: { epoch: position.epoch, offset: (events[0]?.offset ?? position.offset + 1) - 1 },
    messages,
    hasMore,
    turns: turnsBefore(turns, events),
    steps: new Map(),
    deleted: false,
  };
}

/** What events tell of one message. */
interface Telling {
  /** It began with these events. */
  isBorn: boolean;
  /** The offset of the last one that cannot be undone. */
  blindUntil: number | undefined;
  /** Those after it, in order. */
  undoable: Undoable[];
}

const UNTOLD: Telling = { isBorn: false, blindUntil: undefined, undoable: [] };

type Undoable = Extract<ChatEvent, { type: 'message.appended' | 'message.closed' }>;

function tellingsOf(events: readonly ChatEvent[]): ReadonlyMap<string, Telling> {
  const told = new Map<string, Telling>();
  const of = (messageId: string): Telling => {
    const telling = told.get(messageId) ?? { isBorn: false, blindUntil: undefined, undoable: [] };
    told.set(messageId, telling);
    return telling;
  };
  const blind = (messageId: string, offset: number): void => {
    const telling = of(messageId);
    telling.blindUntil = offset;
    telling.undoable = [];
  };
  for (const event of events) {
    switch (event.type) {
      case 'message.created': {
        const { messageId } = event.message;
        if (told.has(messageId)) blind(messageId, event.offset);
        else of(messageId).isBorn = true;
        break;
      }
      case 'message.appended':
      case 'message.closed':
        of(event.messageId).undoable.push(event);
        break;
      case 'message.replaced':
      case 'message.merged':
      case 'message.set':
        blind(event.messageId, event.offset);
        break;
      case 'message.updated':
        blind(event.message.messageId, event.offset);
        break;
      case 'message.deleted':
        for (const messageId of event.messageIds) blind(messageId, event.offset);
        break;
      default:
        break;
    }
  }
  return told;
}

/** A message before these, the last one first; null: they are not what made it. */
function undone(message: Message, events: readonly Undoable[]): Message | null {
  let at = message;
  for (const event of events.toReversed()) {
    if (event.type === 'message.closed') at = { ...at, state: 'open' };
    else {
      try {
        at = { ...at, props: changePath(at.props, event.path, (text) => cut(text, event)) };
      } catch {
        return null;
      }
    }
  }
  return at;
}

function cut(text: unknown, { from, text: added }: Extract<Undoable, { type: 'message.appended' }>): string {
  if (typeof text !== 'string' || text.slice(from) !== added) throw new Error('another text');
  return text.slice(0, from);
}

/** The turns as they were: those that did not begin with these events. */
function turnsBefore(after: ChatView['turns'], events: readonly ChatEvent[]): ReadonlyMap<string, Turn> {
  const since = events[0]?.at ?? '';
  const seen = new Set<string>();
  const turns = new Map<string, Turn>();
  for (const event of events) {
    const requestId = requestIdOf(event);
    if (!('turn' in event) || requestId === null || seen.has(requestId)) continue;
    seen.add(requestId);
    const before = turnBefore(event, since);
    if (before) turns.set(requestId, before);
  }
  for (const [requestId, turn] of after) if (!seen.has(requestId)) turns.set(requestId, turn);
  return turns;
}

function turnBefore({ type, turn }: TurnEvent, since: string): Turn | null {
  const unended: Turn = { ...turn, stopReason: null, error: null, usage: null, endedAt: null };
  if (type === 'turn.ended' && isEnded(turn.status)) {
    return { ...unended, status: turn.startedAt === null ? 'queued' : 'running' };
  }
  const waited = type === 'turn.started' && turn.attempt === 1 && turn.createdAt < since;
  return waited ? { ...unended, status: 'queued', startedAt: null } : null;
}
