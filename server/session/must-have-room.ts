import { ChatError, MAX_PARALLEL_TURNS, type OnBusy } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';

/** TRN-3. @throws {ChatError} `turn_busy`, `queue_full` */
export function mustHaveRoom(session: ChatSession, onBusy: OnBusy): void {
  const { queue } = session;
  const { maxQueuedTurns } = session.env.settings.limits;
  const isFull = queue.length >= maxQueuedTurns;
  switch (onBusy) {
    case 'parallel':
      mustHaveBackgroundRoom(session);
      return;
    case 'reject': {
      const holding = queue.active ?? queue.waiting[0];
      if (holding) throw new ChatError('turn_busy', undefined, { details: { activeRequestId: holding.requestId } });
      return;
    }
    case 'interrupt':
      // The running one ends and makes room for this one.
      if (isFull && queue.active?.turn.status !== 'running') throw queueFull('maxQueuedTurns', maxQueuedTurns);
      return;
    case 'enqueue':
      if (isFull && queue.isBusy) throw queueFull('maxQueuedTurns', maxQueuedTurns);
  }
}

/** @throws {ChatError} `queue_full` */
function mustHaveBackgroundRoom(session: ChatSession): void {
  const background = [...session.turns.values()].filter((live) => live.turn.background && live.isLive);
  if (background.length >= MAX_PARALLEL_TURNS) throw queueFull('parallel', MAX_PARALLEL_TURNS);
}

const queueFull = (limit: string, max: number): ChatError =>
  new ChatError('queue_full', undefined, { details: { limit, max } });
