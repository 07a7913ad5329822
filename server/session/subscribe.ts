import {
  isEnded,
  utf8Bytes,
  type Args,
  type ChatEvent,
  type Position,
  type SubscribeResult,
  type Turn,
} from '../../protocol/index.js';
import type { LoggedEvent } from '../ports/live-log.js';
import type { ChatSession } from './chat-session.js';
import { readRows, type MessagePage, type PageLoad } from './read-messages.js';
import type { ReadOverlay } from './read-overlay.js';
import { turnAsRead } from './read-turns.js';
import type { Subscriber } from './subscriber.js';

/** What a replay may hold (SUB-2); what is more is a snapshot. */
const REPLAY_EVENTS = 1000;
const REPLAY_BYTES = 256 * 1024;

/**
 * Begins a following: what was missed, or how things stand, and from that very position every event (SUB-1 to SUB-3).
 * The last step (take the position, attach) is synchronous, so nothing can fall between.
 */
export async function subscribe(
  session: ChatSession,
  args: Args<'chat:subscribe'>,
  subscriber: Subscriber,
): Promise<SubscribeResult> {
  session.mustExist();
  const replayed = args.position && replay(session, args.position);
  if (replayed) {
    session.attach(subscriber);
    session.env.metrics.subscribes.inc({ mode: 'replay' });
    return { ...common(session), mode: 'replay', events: replayed };
  }
  for (let spare = 1; ; spare *= 2) {
    const overlay = session.beginRead();
    try {
      const snapshot = await readSnapshot(session, { limit: args.messageLimit, spare }, overlay);
      session.mustExist();
      session.settle();
      const standing = snapshot.finish();
      if (!standing) continue;
      session.attach(subscriber);
      session.env.metrics.subscribes.inc({ mode: 'snapshot' });
      return { ...common(session), mode: 'snapshot', ...standing };
    } finally {
      session.endRead(overlay);
    }
  }
}

const common = (session: ChatSession) => ({
  chat: session.chat,
  position: session.log.position,
  presence: session.presence.handOut(),
});

/** The events after the position, null where a snapshot is needed. */
function replay(session: ChatSession, position: Position): ChatEvent[] | null {
  session.settle();
  const missed = session.log.after(position);
  if (!missed || missed.length > REPLAY_EVENTS || bytesOf(missed) > REPLAY_BYTES) return null;
  return missed.map((event) => JSON.parse(event.json) as ChatEvent);
}

function bytesOf(events: readonly LoggedEvent[]): number {
  return events.reduce((sum, event) => sum + utf8Bytes(event.json), 0);
}

interface Snapshot {
  finish(): (MessagePage & { readonly turns: Turn[] }) | null;
}

async function readSnapshot(
  session: ChatSession,
  asked: { readonly limit: number; readonly spare: number },
  overlay: ReadOverlay,
): Promise<Snapshot> {
  const limit = Math.max(asked.limit, sinceOldestOpen(session));
  const pending = await readRows(session, { ...asked, limit }, overlay);
  const ids = new Set(pending.rows.flatMap(({ requestId }) => (requestId === null ? [] : [requestId])));
  const stored = await session.env.store.getTurns([...ids]);
  return {
    finish() {
      const known = knownTurns(session, [...stored.map(({ turn }) => turn), ...overlay.turns.values()], overlay);
      const page = pending.finish(loadOf(known));
      if (!page) return null;
      const ofPage = new Set(page.messages.map(({ requestId }) => requestId));
      const turns = [...known.values()].filter(({ requestId, status }) => ofPage.has(requestId) || !isEnded(status));
      return { ...page, turns };
    },
  };
}

/** These turns and those in memory, as they are at this moment. */
function knownTurns(session: ChatSession, turns: readonly Turn[], overlay: ReadOverlay): ReadonlyMap<string, Turn> {
  const known = new Map<string, Turn>();
  for (const turn of turns) {
    const now = turnAsRead(session, overlay, turn);
    if (now) known.set(now.requestId, now);
  }
  for (const live of session.turns.values()) known.set(live.requestId, live.turn);
  return known;
}

/** DAT-3: turns count in what a snapshot may hold. Those queued or running come in any case, others with a message. */
function loadOf(turns: ReadonlyMap<string, Turn>): PageLoad {
  const bytesIn = (turn: Turn): number => utf8Bytes(JSON.stringify(turn));
  const standing = [...turns.values()].filter(({ status }) => !isEnded(status));
  const counted = new Set<string | null>(standing.map(({ requestId }) => requestId));
  return {
    bytes: standing.reduce((sum, turn) => sum + bytesIn(turn), 0),
    bytesWith({ requestId }) {
      const turn = requestId === null || counted.has(requestId) ? undefined : turns.get(requestId);
      counted.add(requestId);
      return turn ? bytesIn(turn) : 0;
    },
  };
}

/** So many messages reach back to the oldest open one: open messages are always in a snapshot, and no hole before them. */
function sinceOldestOpen(session: ChatSession): number {
  let oldest = session.sequences.next;
  for (const live of session.turns.values()) {
    if (!live.isBuffered) continue;
    for (const { state, sequence } of live.messages.messages) if (state === 'open') oldest = Math.min(oldest, sequence);
  }
  return session.sequences.next - oldest;
}
