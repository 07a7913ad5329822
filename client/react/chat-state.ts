import type { ChatError, ChatRow, ChatSnapshot, EndReason, PendingInput, Turn } from '../index.js';

/** What a chat holds besides the content of its messages. */
export interface ChatOutline {
  /** The messages, ascending: the same reference until one comes or goes. `useMessage` gives each. */
  readonly messageIds: readonly string[];
  /** Whether there are messages older than the first one held. */
  readonly hasMore: boolean;
  /** What was sent and is not among the messages yet, oldest first; a refused one with its error. */
  readonly pending: readonly PendingInput[];
  /** The foreground turn that runs. */
  readonly running: Turn | null;
  /** Whether a foreground turn runs or waits. */
  readonly isBusy: boolean;
}

/** A chat as a list of messages shows it. */
export type ChatState =
  /** Nothing is held yet: also on a server. */
  | (ChatOutline & { readonly status: 'loading'; readonly chat: null; readonly reason: null; readonly error: null })
  /** `live`: every event comes as it happens. `stale`: it was so; not connected, or about to catch up. */
  | (ChatOutline & {
      readonly status: 'live' | 'stale';
      readonly chat: ChatRow;
      readonly reason: null;
      readonly error: null;
    })
  /** Deleted, or may not be read (any more). What was shown before may still be held. */
  | (ChatOutline & {
      readonly status: 'ended';
      readonly chat: ChatRow | null;
      readonly reason: EndReason;
      /** The refusal, where there was one. */
      readonly error: ChatError | null;
    });

/** Of a chat, and the ids of its messages at that moment. */
export function chatStateOf(snapshot: ChatSnapshot, messageIds: readonly string[]): ChatState {
  const { status, chat, reason, error, hasMore, pending, running, isBusy } = snapshot;
  const outline = { messageIds, hasMore, pending, running, isBusy };
  if (status === 'ended') return { ...outline, status, chat, reason: reason ?? 'refused', error };
  const none = { reason: null, error: null };
  if (status === 'loading' || chat === null) return { ...outline, ...none, status: 'loading', chat: null };
  return { ...outline, ...none, status, chat };
}
