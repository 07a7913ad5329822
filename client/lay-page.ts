import { foldChat, solidFrom, type ChatEvent, type ChatView, type Result } from '../protocol/index.js';
import { keepReferences } from './keep-references.js';

export type MessagePage = Result<'message:list'>;

/**
 * The view with a page of messages laid under it: what the page says of the sequences below `before` is what holds there
 * (a message that it lacks was deleted), and the events newer than the page's position stand on top of it (SUB-3, C40).
 *
 * @param events what was folded into the view after the page was asked for
 * @throws {FoldFault} the events do not reach from the page's position to the view's
 */
export function layPage(view: ChatView, before: number, page: MessagePage, events: readonly ChatEvent[]): ChatView {
  let below: ChatView = { ...view, messages: page.messages, hasMore: true, position: page.position };
  for (const event of events) if (event.offset > page.position.offset) below = foldChat(below, event);
  const floor = solidFrom(page);
  const untouched = view.messages.filter((message) => message.sequence >= before || message.sequence < floor);
  const reread = below.messages.filter((message) => message.sequence >= floor && message.sequence < before);
  const messages = [...untouched, ...keepReferences(view.messages, reread)].sort((a, b) => a.sequence - b.sequence);
  const isLowest = untouched.every((message) => message.sequence >= before);
  return { ...view, messages, hasMore: isLowest ? page.hasMore : view.hasMore };
}
