import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import type { Asked } from './live-turn.js';

/** The messages that a turn answers: its own, or those of the turn that it answers anew. */
export async function inputOf(session: ChatSession, record: TurnRecord): Promise<Asked> {
  const { store } = session.env;
  const answersAnew: string[] = [];
  let origin = record;
  for (let next = origin.regenerates; next !== null && !answersAnew.includes(next); next = origin.regenerates) {
    answersAnew.push(next);
    const earlier = await store.getTurn(next);
    if (!earlier) break;
    origin = earlier;
  }
  const input = await store.getMessages(session.chatId, { requestId: origin.turn.requestId, role: 'user' });
  return { input, answersAnew };
}
