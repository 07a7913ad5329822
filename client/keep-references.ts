import type { Message } from '../protocol/index.js';

/** Fresh messages, those that say the same as before by the reference that they had. */
export function keepReferences(held: readonly Message[], fresh: readonly Message[]): readonly Message[] {
  const byId = new Map(held.map((message) => [message.messageId, message]));
  return fresh.map((message) => {
    const before = byId.get(message.messageId);
    return before && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
}
