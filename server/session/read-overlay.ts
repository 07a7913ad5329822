import type { Message, Turn } from '../../protocol/index.js';

/** What happened to stored rows since a reading of them began: laid over the rows, they are as of its end. */
export class ReadOverlay {
  /** Null: deleted. */
  readonly messages = new Map<string, Message | null>();
  readonly turns = new Map<string, Turn>();
}
