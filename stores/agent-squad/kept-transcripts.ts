import type { ChatCommands, Message } from '../../protocol/index.js';
import { pagesBehind } from '../pages.js';
import { continued, EMPTY, lengthOf, type Transcript } from './transcript.js';

/** What was read of a chat and stands as long as its revision does (CMD-5). */
interface Kept {
  /** Null: nothing was read yet, and nothing can have changed. */
  readonly revision: string | null;
  /** The sequence of its last message. */
  readonly last: number;
  readonly transcript: Transcript;
}

const NOTHING: Kept = { revision: null, last: 0, transcript: EMPTY };

interface Reading {
  readonly transcript: Transcript;
  /** What of it can be gone on from. */
  readonly kept: Kept;
}

/** Chats as they were read last, so that of each only what is new is read again. Beyond the bound the longest unread go. */
export class KeptTranscripts {
  /** The longest unread first. */
  readonly #kept = new Map<string, Kept>();
  #messages = 0;

  /** @param maxMessages how many messages are kept, of all chats together */
  constructor(private readonly maxMessages: number) {}

  /**
   * Every message of the chat that was saved before this was asked.
   *
   * @param key who reads which chat: what one may read is not kept for another
   * @throws {ChatError} `not_found`
   */
  async read(key: string, chats: ChatCommands, chatId: string): Promise<Transcript> {
    const { transcript, kept } = await readOn(chats, chatId, this.#kept.get(key) ?? NOTHING);
    this.#keep(key, kept);
    return transcript;
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#messages += lengthOf(kept.transcript);
    for (const longestUnread of this.#kept.keys()) {
      if (this.#messages <= this.maxMessages) return;
      this.#drop(longestUnread);
    }
  }

  #drop(key: string): void {
    this.#messages -= lengthOf(this.#kept.get(key)?.transcript ?? EMPTY);
    this.#kept.delete(key);
  }
}

/** Reads on from what is kept, or anew where that stands no more. @throws {ChatError} `not_found` */
async function readOn(chats: ChatCommands, chatId: string, kept: Kept): Promise<Reading> {
  const messages: Message[] = [];
  let { revision } = kept;
  for await (const page of pagesBehind(chats, { chatId, withRevision: true }, kept.last)) {
    if (kept.revision !== null && page.revision !== kept.revision) return readOn(chats, chatId, NOTHING);
    // The first page's: what has changed while the others were read is read again the next time.
    revision ??= page.revision ?? null;
    messages.push(...page.messages);
  }
  const open = messages.findIndex(({ state }) => state === 'open');
  const settled = open < 0 ? messages : messages.slice(0, open);
  const standing = continued(kept.transcript, settled);
  return {
    transcript: continued(standing, messages.slice(settled.length)),
    kept: { revision, last: settled.at(-1)?.sequence ?? kept.last, transcript: standing },
  };
}
