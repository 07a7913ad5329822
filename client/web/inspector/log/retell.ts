import type { ChatEvent, ChatView, Message } from '../../../../protocol/index.js';
import type { Draft, StartDraft } from './entry.js';
import { foldEvent } from './fold-event.js';
import { viewBefore } from './view-before.js';

/** Why it begins, with what did not fit before. */
type Begin = Pick<StartDraft, 'why' | 'problem'>;

/** The log told again from as far back as the server replays it. */
export interface Retold {
  readonly drafts: readonly Draft[];
  /** The view at its end. */
  readonly view: ChatView;
}

/**
 * Joins a snapshot to the events that led to it: the log as this page shows it, from the first of those events on. What
 * they fold to is held against the snapshot (DAT-4); where they differ the log goes on from the snapshot, and says so.
 *
 * @param events consecutive, the last one at the snapshot's position; may be empty
 */
export function retell(snapshot: ChatView, events: readonly ChatEvent[], begin: Begin): Retold {
  if (events.length === 0) return { drafts: [{ ...begin, view: snapshot, unknown: [] }], view: snapshot };
  const { view: start, unknown, wholeFrom, known } = viewBefore(snapshot, events);
  const drafts: Draft[] = [{ ...begin, view: start, unknown }];
  let view = start;
  const misfit = (problem: string): Retold => ({
    drafts: [...drafts, { why: 'misfit', view: snapshot, unknown: [], problem }],
    view: snapshot,
  });
  for (const event of events) {
    const next = foldEvent(view, event);
    if (typeof next === 'string') return misfit(next);
    view = next;
    drafts.push(event);
    if (event.offset !== wholeFrom) continue;
    view = { ...view, messages: withKnown(view.messages, known), hasMore: snapshot.hasMore };
    drafts.push({ why: 'whole', view, unknown: [], problem: '' });
  }
  const problem = difference(view, snapshot);
  return problem === null ? { drafts, view } : misfit(problem);
}

function withKnown(messages: readonly Message[], known: readonly Message[]): readonly Message[] {
  const ids = new Set(known.map(({ messageId }) => messageId));
  return [...messages.filter(({ messageId }) => !ids.has(messageId)), ...known].sort((a, b) => a.sequence - b.sequence);
}

/** Where two views of one position differ in what both tell, in words; null: nowhere. Events do not carry `updatedAt`. */
export function difference(folded: ChatView, shown: ChatView): string | null {
  const first = shown.messages[0]?.sequence ?? 0;
  const held = new Map(folded.messages.map((message) => [message.messageId, message]));
  for (const message of shown.messages) {
    const mine = held.get(message.messageId);
    if (!mine) return `Message ${message.messageId} is in the snapshot, and the events do not tell of it.`;
    if (plain(mine) !== plain(message)) return `Message ${message.messageId} is not what the events made of it.`;
    held.delete(message.messageId);
  }
  for (const { messageId, sequence } of held.values()) {
    if (sequence >= first) return `Message ${messageId} came with the events, and is not in the snapshot.`;
  }
  return null;
}

const plain = (message: Message): string => sorted({ ...message, updatedAt: '' });

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
