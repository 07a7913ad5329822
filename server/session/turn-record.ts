import { isEnded } from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { queueAgain } from './queue-again.js';

/**
 * The turn as it is now: in memory, else as it is stored. One that is stored as waiting, and waits nowhere, was refused
 * because the answer of its write 1 was lost: it waits from now on. Asked within a command of the chat.
 */
export async function recordOf(session: ChatSession, requestId: string): Promise<TurnRecord | null> {
  const live = session.turns.get(requestId);
  if (live) return live.record;
  const stored = await session.env.store.getTurn(requestId);
  if (stored?.turn.chatId !== session.chatId || isEnded(stored.turn.status)) return stored;
  await queueAgain(session, stored, { isUntold: true });
  return session.turns.get(requestId)?.record ?? stored;
}
