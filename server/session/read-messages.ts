import {
  definedOf,
  utf8Bytes,
  type Args,
  type Message,
  type MessageFilter,
  type Result,
} from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { ReadOverlay } from './read-overlay.js';

/**
 * Reading a chat's messages as they are at one position (DAT-4): the stored rows, with the buffers of running turns and
 * what changed since the reading began laid over them in one synchronous step.
 */

export interface MessageRange extends MessageFilter {
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly offset?: number | undefined;
  /** What the page may hold; by default `maxPageBytes`. */
  readonly maxBytes?: number;
}

/** How many more rows are read than the page has place for. The next try doubles it, so that a page is found whatever hides rows. */
interface Spare {
  readonly spare: number;
}

export interface MessagePage {
  readonly messages: Message[];
  readonly hasMore: boolean;
}

/** A page before its last step: call `finish` in the same synchronous step that takes the position. */
export interface PendingPage {
  /** The rows read, for what else hangs on them. */
  readonly rows: readonly Message[];
  finish(also?: PageLoad): MessagePage | null;
}

/** What goes with a page, and counts in what it may hold. */
export interface PageLoad {
  /** Whatever the messages are. */
  readonly bytes: number;
  /** With this message. Asked once for each, nearest first, and for none that has no place any more. */
  readonly bytesWith: (message: Message) => number;
}

const NOTHING: PageLoad = { bytes: 0, bytesWith: () => 0 };

/**
 * A page as it is at the position that it names; where it is asked for, with the revision at that position (CMD-5).
 * @throws {ChatError} `not_found` once the chat is deleted
 */
export async function readPage(
  session: ChatSession,
  { withRevision = false, ...range }: MessageRange & Pick<Args<'message:list'>, 'withRevision'>,
): Promise<Result<'message:list'>> {
  for (let spare = 1; ; spare *= 2) {
    const overlay = session.beginRead();
    try {
      const pending = await readRows(session, { ...range, spare }, overlay);
      session.mustExist();
      session.settle();
      const page = pending.finish();
      const revision = withRevision ? { revision: session.env.revisions.of(session.chatId) } : {};
      if (page) return { ...page, position: session.log.position, ...revision };
    } finally {
      session.endRead(overlay);
    }
  }
}

/** Reads the rows that a page can need. `finish` gives null where so much was deleted meanwhile that they are too few. */
export async function readRows(
  session: ChatSession,
  range: MessageRange & Spare,
  overlay: ReadOverlay,
): Promise<PendingPage> {
  const { chatId, env } = session;
  const buffered = bufferedTurns(session);
  const begun = session.beginning.size * env.settings.limits.maxInputMessages + session.untold.size;
  const hidden = buffered.reduce((sum, live) => sum + live.deletedStored.size, begun);
  const { limit, spare, before, after, offset, maxBytes = env.settings.limits.maxPageBytes, ...filter } = range;
  const start = offset ?? 0;
  // With buffers in play, or rows that nobody was told of, an offset cannot be counted by the store alone.
  const fromStart = offset !== undefined && (buffered.length > 0 || begun > 0);
  const skip = fromStart ? start : 0;
  const fetched = limit + spare + hidden + skip;
  const rows = await env.store.getMessages(chatId, {
    ...definedOf(filter),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(offset === undefined ? {} : { offset: fromStart ? 0 : start }),
    limit: fetched,
  });
  const finish = (also = NOTHING): MessagePage | null => {
    const visible = laidOver(session, rows, overlay, (message) => matches(message, range));
    const isShort = rows.length === fetched && visible.length <= limit + skip;
    if (isShort) return null;
    return cutPage(visible, { limit, fromOldest: after !== undefined || offset !== undefined, skip }, maxBytes, also);
  };
  return { rows, finish };
}

const bufferedTurns = (session: ChatSession) => [...session.turns.values()].filter((live) => live.isBuffered);

/** Rows, then changes since they were read, then the buffers: ascending, and only what the range asks for. */
function laidOver(
  session: ChatSession,
  rows: readonly Message[],
  overlay: ReadOverlay,
  wanted: (message: Message) => boolean,
): Message[] {
  const isUntold = ({ requestId, messageId }: Message): boolean =>
    session.untold.has(messageId) || (requestId !== null && session.beginning.get(requestId) === null);
  const byId = new Map(rows.filter((row) => !isUntold(row)).map((message) => [message.messageId, message]));
  for (const [messageId, message] of overlay.messages) {
    if (message && wanted(message)) byId.set(messageId, message);
    else byId.delete(messageId);
  }
  for (const live of bufferedTurns(session)) {
    for (const messageId of live.deletedStored) byId.delete(messageId);
    for (const messageId of live.messages.deletedIds) byId.delete(messageId);
    for (const message of live.messages.messages) {
      if (wanted(message)) byId.set(message.messageId, message);
      else byId.delete(message.messageId);
    }
  }
  return [...byId.values()].sort((a, b) => a.sequence - b.sequence);
}

function matches(message: Message, { before, after, requestId, role, blockId, threadId, type }: MessageRange): boolean {
  return (
    (before === undefined || message.sequence < before) &&
    (after === undefined || message.sequence > after) &&
    (requestId === undefined || message.requestId === requestId) &&
    (role === undefined || message.role === role) &&
    (blockId === undefined || message.blockId === blockId) &&
    (threadId === undefined || message.threadId === threadId) &&
    (type === undefined || message.type === type)
  );
}

/** The window, and of it what a page may hold (DAT-3): at least one message; open ones always. */
function cutPage(
  visible: readonly Message[],
  window: { readonly limit: number; readonly fromOldest: boolean; readonly skip: number },
  maxBytes: number,
  also: PageLoad,
): MessagePage {
  const { limit, fromOldest, skip } = window;
  const list = visible.slice(skip);
  const asked = fromOldest ? list.slice(0, limit) : list.slice(-limit);
  const nearestFirst = fromOldest ? asked : [...asked].reverse();
  let { bytes } = also;
  const kept = nearestFirst.filter((message, index) => {
    bytes += bytes > maxBytes ? 0 : utf8Bytes(JSON.stringify(message)) + also.bytesWith(message);
    return index === 0 || bytes <= maxBytes || (!fromOldest && message.state === 'open');
  });
  return { messages: fromOldest ? kept : kept.reverse(), hasMore: kept.length < list.length };
}
