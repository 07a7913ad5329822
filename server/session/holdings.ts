import type { Fences } from '../ports/fence.js';
import type { ChatRecord, RecordEntry } from '../ports/chat-records.js';

/** A chat that this node owns among several (LIF-4). */
export interface Holding {
  readonly fence: number;
  readonly record: ChatRecord;
  /** What owners before have left, until the chat is taken into memory. */
  left: readonly RecordEntry[];
  /** Whether the owner before has left it whole: of one that died, what it stored last may stand nowhere in the record. */
  readonly wasWhole: boolean;
  /** Whether the record has all that is told of the chat; once it has not, the log may not go on under the epoch that is in it. */
  isRecorded: boolean;
}

/** Which chats this process may take into memory: on a node of its own all, and nothing has to be held. */
export interface Holdings extends Fences {
  holding(chatId: string): Holding | null;
  /** Null on a node of its own. @throws {ChatError} `storage_unavailable` where it is another node's, or nobody's */
  mustHold(chatId: string): Holding | null;
  /** It could not be taken into memory: whoever asks next takes it anew, with what owners before have left in it. */
  giveUp(chatId: string): void;
  /**
   * Nobody here needs the chat any more. From this call on it is not held; others may take it once `safe` has settled.
   * @param isWhole nothing is being done to it: all that is stored was told
   */
  letGo(chatId: string, isWhole: boolean, safe?: Promise<void> | null): Promise<void>;
}

/** A node of its own. */
export const ALONE: Holdings = {
  of: () => null,
  holding: () => null,
  mustHold: () => null,
  lose: () => undefined,
  giveUp: () => undefined,
  letGo: () => Promise.resolve(),
};
