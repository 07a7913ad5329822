import { ChatError, type Args, type Turn } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';

/**
 * Stops exactly one turn (TRN-5), without waiting for anything but its end. An ended turn stays what it is.
 *
 * @throws {ChatError} `not_found`
 */
export async function stopTurn(session: ChatSession, { requestId }: Args<'turn:stop'>): Promise<Turn> {
  const live = requestId === undefined ? session.active : session.turns.get(requestId);
  if (live) return (await endTurn(session, live, { status: 'interrupted', stopReason: 'stopped' })).turn;
  const record = requestId === undefined ? null : await session.env.store.getTurn(requestId);
  if (record?.turn.chatId !== session.chatId) throw new ChatError('not_found', 'There is no such turn to stop.');
  return record.turn;
}
