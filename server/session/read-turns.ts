import type { Turn } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { ReadOverlay } from './read-overlay.js';

/**
 * A stored turn as everybody reads it at this moment: in memory; until it was told of as before; else as it became since
 * the reading began. Null: nobody was told of it yet (SUB-1).
 */
export function turnAsRead(session: ChatSession, overlay: ReadOverlay, stored: Turn): Turn | null {
  const { requestId } = stored;
  const live = session.turns.get(requestId);
  if (live) return live.turn;
  const untilTold = session.beginning.get(requestId);
  return untilTold === undefined ? (overlay.turns.get(requestId) ?? stored) : untilTold;
}
