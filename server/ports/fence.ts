import { ChatError } from '../../protocol/index.js';

/**
 * LIF-4: which holding of a chat a write belongs to. The number is raised in the store whenever a node takes the chat, and
 * checked in every write of it, so that a node which was paused, or cut off, and has lost the chat meanwhile changes nothing
 * any more, whatever it believes.
 */
export interface Fences {
  /** The number under which this node holds the chat; null where it does not hold it. */
  of(chatId: string): number | null;
  /** The store has found that another node has taken the chat since this one had it under that number. */
  lose(chatId: string, fence: number): void;
}

/** The reason of {@link FencedOut} in its details. */
export const MOVED = 'moved';

/** A write came from a node that does not hold the chat (any more). It has changed nothing; whoever asks the holder may succeed. */
export class FencedOut extends ChatError {
  constructor(readonly chatId: string) {
    super('storage_unavailable', 'Another node has taken over this chat.', {
      details: { reason: MOVED },
      retryAfterMs: 100,
    });
  }
}
