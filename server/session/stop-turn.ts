import { ChatError, isEnded, type Args, type Turn } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { recordOf } from './turn-record.js';

/**
 * Stops exactly one turn (TRN-5), without waiting for anything but its end. An ended turn stays what it is.
 *
 * @throws {ChatError} `not_found`
 */
export async function stopTurn(session: ChatSession, args: Args<'turn:stop'>): Promise<Turn> {
  const ended = await endLive(session, args);
  if (ended) return ended;
  const { requestId } = args;
  const record = requestId === undefined ? null : await session.env.store.getTurn(requestId);
  if (record?.turn.chatId !== session.chatId) throw new ChatError('not_found', 'There is no such turn to stop.');
  if (isEnded(record.turn.status)) return record.turn;
  // Its start is stored and not announced yet: once that command is through, the turn is there.
  return session.commands.run(async () => {
    const now = await recordOf(session, record.turn.requestId);
    return (await endLive(session, args)) ?? now?.turn ?? record.turn;
  });
}

async function endLive(session: ChatSession, { requestId }: Args<'turn:stop'>): Promise<Turn | null> {
  const live = requestId === undefined ? session.active : session.turns.get(requestId);
  return live ? (await endTurn(session, live, { status: 'interrupted', stopReason: 'stopped' })).turn : null;
}
