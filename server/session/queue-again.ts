import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { announce, inputOf, place } from './start-turn.js';

/** A turn that was stored as queued and did not begin waits again for its time. */
export async function queueAgain(session: ChatSession, record: TurnRecord): Promise<void> {
  if (session.turns.has(record.turn.requestId)) return;
  const live = announce(session, record, await inputOf(session, record));
  session.env.log.info({ chatId: session.chatId, requestId: live.requestId }, 'a waiting turn is queued again');
  const isAgentsOwn = live.turn.background && record.openedBy !== null;
  if (isAgentsOwn) void endTurn(session, live, { status: 'interrupted', stopReason: 'crashed' });
  else place(session, live, 'enqueue');
}
