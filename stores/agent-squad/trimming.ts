/** Whether the new message has the role of the last one. */
export function isConsecutive(conversation: readonly { role: string }[], newMessage: { role: string }): boolean {
  return conversation.at(-1)?.role === newMessage.role;
}

/**
 * The newest of a conversation, an even number of them, as agent-squad counts: an odd size is lowered by one; without a
 * size, and for 0 and 1, everything; a negative one leaves out so many of the oldest.
 */
export function trimmed<T>(conversation: T[], maxHistorySize?: number): T[] {
  if (maxHistorySize === undefined) return conversation;
  return conversation.slice(-(maxHistorySize % 2 === 0 ? maxHistorySize : maxHistorySize - 1));
}
