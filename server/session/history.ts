import type { Message } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { LiveTurn } from './live-turn.js';
import { readRows } from './read-messages.js';

const DEFAULT_HISTORY = 50;
const MAX_HISTORY = 1000;
/** Turns that waited lie between an older question and its answer: so many rows more are looked at. */
const REACH = 200;

/**
 * AGT-7: what a model needs of the chat's other turns. Each turn's messages stand together, in the order of the
 * questions; the input of turns that still wait is left out, and so is what this turn answers anew.
 */
export async function readHistory(session: ChatSession, live: LiveTurn): Promise<Message[]> {
  const limit = historyLimit(session);
  const overlay = session.beginRead();
  try {
    const pending = await readRows(session, { limit: limit + REACH }, overlay);
    const page = pending.finish() ?? { messages: [...pending.rows] };
    const own = new Set([live.requestId, ...live.needs.answersAnew]);
    const others = page.messages.filter(
      ({ requestId, state }) =>
        state === 'closed' && (requestId === null || (!own.has(requestId) && !isWaiting(session, requestId))),
    );
    return byTurn(others).slice(-limit);
  } finally {
    session.endRead(overlay);
  }
}

function historyLimit(session: ChatSession): number {
  const asked = session.chat.metadata?.['historyLimit'];
  return typeof asked === 'number' && Number.isInteger(asked) && asked >= 1
    ? Math.min(asked, MAX_HISTORY)
    : DEFAULT_HISTORY;
}

const isWaiting = (session: ChatSession, requestId: string): boolean =>
  session.turns.get(requestId)?.turn.status === 'queued';

/** Turns in the order of their first message, each whole; messages of no turn stand by themselves. */
function byTurn(messages: readonly Message[]): Message[] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const key = message.requestId ?? `message ${message.messageId}`;
    const group = groups.get(key) ?? [];
    group.push(message);
    groups.set(key, group);
  }
  return [...groups.values()].flat();
}
