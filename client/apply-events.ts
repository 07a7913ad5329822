import { foldChat, type ChatEvent, type ChatView } from '../protocol/index.js';

/** What became of a batch of events. */
export interface Applied {
  /** The view after the last event that fitted. */
  readonly view: ChatView;
  /** The events that were folded in, in order. */
  readonly events: readonly ChatEvent[];
  /**
   * - `ok`: all of them, but those that the view holds already
   * - `gap`: an event is missing, or the log has another epoch: ask again from the view's position (SUB-4)
   * - `fault`: an event does not fit what is held: the view is wrong, ask again without a position
   */
  readonly verdict: 'ok' | 'gap' | 'fault';
}

/** Folds events into a view, dropping those at or before its position (SUB-3, C39). Never throws. */
export function applyEvents(before: ChatView, batch: readonly ChatEvent[]): Applied {
  const events: ChatEvent[] = [];
  let view = before;
  for (const event of batch) {
    const { epoch, offset } = view.position;
    if (event.epoch !== epoch || event.offset > offset + 1) return { view, events, verdict: 'gap' };
    if (event.offset <= offset) continue;
    try {
      view = foldChat(view, event);
    } catch {
      // Whatever the fold throws says the same: this event was made for other content than what is held.
      return { view, events, verdict: 'fault' };
    }
    events.push(event);
  }
  return { view, events, verdict: 'ok' };
}

/** Whether a frame of the server has the form of events of one chat. What stands in them, the fold knows. */
export function isEventBatch(body: unknown): body is readonly ChatEvent[] {
  return Array.isArray(body) && body.length > 0 && body.every(isEnvelope);
}

function isEnvelope(candidate: unknown): boolean {
  if (candidate === null || typeof candidate !== 'object') return false;
  const { chatId, epoch, offset, type } = candidate as Record<string, unknown>;
  return (
    typeof chatId === 'string' && typeof epoch === 'string' && Number.isInteger(offset) && typeof type === 'string'
  );
}
