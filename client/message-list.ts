import type { Message } from '../protocol/index.js';

/**
 * The sequence from which on a page has every message of the chat. Open messages stand in it whatever its bounds (DAT-3),
 * so that behind a leading open one there may be a hole: or messages that were deleted, which looks the same.
 */
export function solidFrom(page: readonly Message[]): number {
  let solid = page[0]?.sequence ?? 0;
  for (const [index, { state, sequence }] of page.entries()) {
    const next = page[index + 1]?.sequence;
    if (state !== 'open' || next === undefined) break;
    if (next > sequence + 1) solid = next;
  }
  return solid;
}

/** Fresh messages, those that say the same as before by the reference that they had. */
export function keepReferences(held: readonly Message[], fresh: readonly Message[]): readonly Message[] {
  const byId = new Map(held.map((message) => [message.messageId, message]));
  return fresh.map((message) => {
    const before = byId.get(message.messageId);
    return before && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
}
