import { solidFrom, viewOf, type ChatView, type SubscribeResult } from '../protocol/index.js';
import { keepReferences } from './keep-references.js';

export interface Joined {
  readonly view: ChatView;
  /**
   * What is held of sequences below this one has to be read again: it was kept from before, and the log no longer tells
   * what happened to it since; or it has holes. Null where all is well.
   */
  readonly unsureBelow: number | null;
}

/**
 * The view of a snapshot (SUB-1). Older pages that were loaded before stay where they join up with it: what is held
 * reaches into the snapshot, so that no message can be missing in between. Otherwise they are dropped, and can be loaded
 * again. A message that says the same as before keeps its reference.
 */
export function joinSnapshot(held: ChatView | null, answer: SubscribeResult): Joined {
  const fresh = viewOf(answer);
  const messages = held ? keepReferences(held.messages, fresh.messages) : fresh.messages;
  const view = { ...fresh, messages };
  const first = messages[0];
  if (!fresh.hasMore || !first) return { view, unsureBelow: null };

  const solid = solidFrom(fresh);
  const older = held?.messages.filter(({ sequence }) => sequence < first.sequence) ?? [];
  const reaches = held?.messages.some(({ sequence }) => sequence >= first.sequence) ?? false;
  if (!held || older.length === 0 || !reaches) {
    return { view, unsureBelow: solid > first.sequence ? solid : null };
  }
  return { view: { ...view, messages: [...older, ...messages], hasMore: held.hasMore }, unsureBelow: solid };
}
