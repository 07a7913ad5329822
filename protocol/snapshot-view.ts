import type { SubscribeResult } from './commands.js';
import type { ChatView } from './fold.js';
import type { Message } from './message.js';

/** The view that a snapshot gives: where `foldChat` begins. */
export function viewOf({ chat, position, messages = [], hasMore = false, turns = [] }: SubscribeResult): ChatView {
  return {
    chat,
    position,
    messages,
    hasMore,
    turns: new Map(turns.map((turn) => [turn.requestId, turn])),
    steps: new Map(),
    deleted: false,
  };
}

/** Messages of a chat, ascending, and whether there are more below them: a snapshot, a page, a view. */
export interface NewestMessages {
  readonly messages?: readonly Message[] | undefined;
  readonly hasMore?: boolean | undefined;
}

/**
 * The sequence from which on a page has every message of the chat: 0 where there are none below it. Open messages stand in
 * it whatever its bounds (DAT-3), so that behind a leading open one there may be a hole: or messages that were deleted,
 * which looks the same.
 */
export function solidFrom({ messages = [], hasMore = false }: NewestMessages): number {
  if (!hasMore) return 0;
  let solid = messages[0]?.sequence ?? Infinity;
  for (const [index, { state, sequence }] of messages.entries()) {
    const next = messages[index + 1]?.sequence;
    if (state !== 'open' || next === undefined) break;
    if (next > sequence + 1) solid = next;
  }
  return solid;
}
