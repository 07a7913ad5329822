import { foldChat, type ChatEvent, type ChatView } from '../../../../protocol/index.js';

/** The view after an event, or what of the event does not fit, for people. */
export function foldEvent(view: ChatView, event: ChatEvent): ChatView | string {
  try {
    return foldChat(view, event);
  } catch (error) {
    return `#${event.offset} ${event.type}: ${error instanceof Error ? error.message : 'it does not fit'}`;
  }
}
