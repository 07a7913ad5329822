import type { Message } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { LiveTurn } from './live-turn.js';
import { readPage } from './read-messages.js';

const DEFAULT_HISTORY = 50;
const MAX_HISTORY = 1000;
/**
 * Rows looked at beyond those wanted, for what is left out, and for questions that lie far before their answers: 16 turns
 * may have waited in between. Few are enough nearly always; the last reaches over the largest turn.
 */
const REACHES = [50, 1_700, 12_000];

/**
 * AGT-7: what a model needs of the chat's other turns. Each turn's messages stand together, in the order of the
 * questions; the input of turns that still wait is left out, and so is what this turn answers anew.
 */
export async function readHistory(session: ChatSession, live: LiveTurn): Promise<Message[]> {
  const limit = historyLimit(session);
  let history: Message[] = [];
  for (const [index, reach] of REACHES.entries()) {
    const { others, hasMore } = await readOthers(session, live, limit + reach);
    const origins = await answeredAnew(session, others);
    history = byTurn(others, origins).slice(-limit);
    const isFull = history.length === limit && (index > 0 || everyTurnWhole(history, others, origins));
    if (!hasMore || isFull) break;
  }
  return history;
}

/** The newest stored messages of the other turns, among so many rows: as far as one message may reach, in bytes. */
async function readOthers(
  session: ChatSession,
  live: LiveTurn,
  limit: number,
): Promise<{ others: Message[]; hasMore: boolean }> {
  const { messages, hasMore } = await readPage(session, {
    limit,
    maxBytes: session.env.settings.limits.maxMessageBytes,
  });
  const own = new Set([live.requestId, ...live.needs.answersAnew]);
  const others = messages.filter(
    ({ requestId, messageId, state }) =>
      state === 'closed' &&
      (requestId === null ||
        (!own.has(requestId) && !isWaiting(session, requestId) && !isUnderWay(session, requestId, messageId))),
  );
  return { others, hasMore };
}

/** Turns that answer another's input anew (TRN-11): turn → the one whose input it is, by request id. */
type Origins = ReadonlyMap<string, string>;

/** Of the turns in these rows that have no question of their own there. */
async function answeredAnew(session: ChatSession, rows: readonly Message[]): Promise<Origins> {
  const origins = new Map<string, string>();
  const asked = askedIn(rows);
  let looking = new Set(
    rows.flatMap(({ requestId }) => (requestId === null || asked.has(requestId) ? [] : [requestId])),
  );
  while (looking.size > 0) {
    const records = await session.env.store.getTurns([...looking]);
    looking = new Set();
    for (const { turn, regenerates } of records) {
      if (regenerates === null || origins.has(turn.requestId)) continue;
      origins.set(turn.requestId, regenerates);
      if (!asked.has(regenerates)) looking.add(regenerates);
    }
  }
  return origins;
}

const askedIn = (rows: readonly Message[]): ReadonlySet<string | null> =>
  new Set(rows.flatMap(({ role, requestId }) => (role === 'user' ? [requestId] : [])));

/** The turn with whose question these words stand. */
function originOf(requestId: string, origins: Origins): string {
  let origin = requestId;
  for (let next = origins.get(origin); next !== undefined; next = origins.get(origin)) origin = next;
  return origin;
}

/** Whether the question of every turn in the history is among the rows read. */
function everyTurnWhole(history: readonly Message[], rows: readonly Message[], origins: Origins): boolean {
  const asked = askedIn(rows);
  return history.every(({ requestId }) => requestId === null || asked.has(originOf(requestId, origins)));
}

function historyLimit(session: ChatSession): number {
  const asked = session.chat.metadata?.['historyLimit'];
  return typeof asked === 'number' && Number.isInteger(asked) && asked >= 1
    ? Math.min(asked, MAX_HISTORY)
    : DEFAULT_HISTORY;
}

const isWaiting = (session: ChatSession, requestId: string): boolean =>
  session.turns.get(requestId)?.turn.status === 'queued';

/**
 * Whether the message is of an attempt that is not over: it is not stored, and may still be taken back. One that ended
 * and could not be stored yet is over for everybody (TRN-7).
 */
function isUnderWay(session: ChatSession, requestId: string, messageId: string): boolean {
  const live = session.turns.get(requestId);
  return live !== undefined && live.isLive && !live.isStored && live.messages.knows(messageId);
}

/** Turns in the order of their first message, each whole; messages of no turn stand by themselves. */
function byTurn(messages: readonly Message[], origins: Origins): Message[] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const { requestId, messageId } = message;
    const key = requestId === null ? `message ${messageId}` : originOf(requestId, origins);
    const group = groups.get(key) ?? [];
    group.push(message);
    groups.set(key, group);
  }
  return [...groups.values()].flat();
}
