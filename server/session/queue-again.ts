import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { announce, place } from './begin-turn.js';
import { inputOf } from './turn-input.js';

/**
 * A turn that was stored as queued and did not begin waits again for its time.
 *
 * @param isUntold whether followers have not heard of its input
 */
export async function queueAgain(session: ChatSession, record: TurnRecord, { isUntold = false } = {}): Promise<void> {
  const { requestId } = record.turn;
  if (session.turns.has(requestId)) return;
  const asked = await inputOf(session, record);
  const untold = isUntold ? asked.input.filter((message) => message.requestId === requestId) : [];
  const live = announce(session, record, asked, untold);
  session.env.log.info({ chatId: session.chatId, requestId: live.requestId }, 'a waiting turn is queued again');
  const isAgentsOwn = live.turn.background && record.openedBy !== null;
  if (isAgentsOwn) void endTurn(session, live, { status: 'interrupted', stopReason: 'crashed' });
  else place(session, live, 'enqueue');
}
