import type { SubscribeResult } from './commands.js';
import type { ChatView } from './fold.js';

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
