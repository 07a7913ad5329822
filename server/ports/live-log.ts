import type { ChatEventType, Position } from '../../protocol/index.js';

/**
 * The ordered events of each chat, kept for replay (section 1). Publishing is the only way to a subscriber: whoever
 * follows a chat reads its log.
 *
 * Promises of every implementation (`test/contract/live-log.ts`):
 *
 * - Offsets of one epoch have no gap. An event has its place before anybody can see it.
 * - Events beyond the retention are dropped oldest first; a read says so instead of leaving a hole.
 * - An epoch is never used again.
 */
export interface LiveLog {
  /** The log of one chat; its epoch lives until `close`. */
  open(chatId: string): ChatLog;
}

/** The live log of one chat, written by the one session that owns the chat. */
export interface ChatLog {
  /** Where the log stands: the position of its newest event, offset 0 when it never had one. */
  readonly position: Position;
  /** Gives an event its place and keeps it. `encode` gets the place and gives the event's JSON. */
  append(type: ChatEventType, encode: (position: Position) => string): LoggedEvent;
  /**
   * Goes on from events of an earlier owner (LIF-4), ascending: under their epoch, from the last of them. Only before the
   * first append.
   */
  goOn(events: readonly LoggedEvent[]): void;
  /** Goes on under an epoch of its own (LIF-4): nothing before is given any more. */
  beginEpoch(): void;
  /** The events after a position, null where they are not all kept or the epoch is another one. */
  after(position: Position): readonly LoggedEvent[] | null;
  /** Drops what is kept; epoch and offset go on. */
  clear(): void;
  /** Bytes of the events kept. */
  readonly bytes: number;
  close(): void;
}

/** An event, encoded once for all who read it. */
export interface LoggedEvent {
  readonly epoch: string;
  readonly offset: number;
  readonly type: ChatEventType;
  readonly json: string;
}
