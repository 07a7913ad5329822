import type { ChatSnapshot, Message, Turn } from '../../client/index.js';

export interface TranscriptOptions {
  readonly print: (text: string) => void;
  readonly wants: (message: Message) => boolean;
  /** What stands before a message. */
  readonly label: (message: Message, turn: Turn | undefined) => string;
  /** Whether beginnings and ends of turns are shown. */
  readonly hasMarks: boolean;
}

/** What of a chat's view a transcript is made from. */
export type TranscriptView = Pick<ChatSnapshot, 'messages' | 'turns' | 'hasMore'>;

interface Shown {
  readonly sequence: number;
  readonly text: string;
}

/**
 * Writes a chat down as it happens, from one view after another: each message once and in order, growing ones as they
 * grow. One line is written at a time: whatever comes while a text grows waits for its end. What was written and is
 * changed or deleted later is said again.
 */
export class Transcript {
  readonly #shown = new Map<string, Shown>();
  readonly #marked = new Set<string>();
  /** The message whose line is being written. */
  #growing: string | null = null;
  #isFirst = true;

  constructor(private readonly options: TranscriptOptions) {}

  show(view: TranscriptView): void {
    if (this.#isFirst) this.#skipThePast(view);
    this.#sayDeleted(view);
    for (const message of view.messages) {
      if (!this.options.wants(message)) continue;
      const turn = view.turns.get(message.requestId ?? '');
      if (message.role === 'assistant' && turn && this.#growing === null) this.#markStart(turn);
      if (!this.#showMessage(message, turn)) return;
    }
    for (const turn of view.turns.values()) {
      this.#markStart(turn);
      this.#markEnd(turn);
    }
  }

  /** Ends the line that is being written. */
  end(): void {
    if (this.#growing === null) return;
    this.#growing = null;
    this.options.print('\n');
  }

  /** @returns whether the next message may be shown */
  #showMessage(message: Message, turn: Turn | undefined): boolean {
    const { messageId, sequence, state } = message;
    const content = message.props['content'];
    // What does not grow as a text is shown once it is complete, and holds nobody up.
    if (state === 'open' && typeof content !== 'string') return true;
    const text = textOf(message);
    const before = this.#shown.get(messageId)?.text;
    if (this.#growing !== null && this.#growing !== messageId) return true;
    if (before === undefined || !text.startsWith(before) || (text !== before && this.#growing === null)) {
      this.end();
      const again = before === undefined ? '' : '(changed) ';
      this.options.print(this.options.label(message, turn) + again + text);
      this.#growing = messageId;
    } else if (text !== before) this.options.print(text.slice(before.length));
    this.#shown.set(messageId, { sequence, text });
    if (state === 'closed') this.end();
    return state === 'closed';
  }

  /** Turns that were over before anybody looked are no news. */
  #skipThePast({ turns }: TranscriptView): void {
    this.#isFirst = false;
    for (const turn of turns.values()) {
      if (turn.endedAt === null) continue;
      this.#marked.add(`start ${keyOf(turn)}`);
      this.#marked.add(`end ${keyOf(turn)}`);
    }
  }

  #sayDeleted({ messages, hasMore }: TranscriptView): void {
    const present = new Set(messages.map(({ messageId }) => messageId));
    const oldest = hasMore ? (messages[0]?.sequence ?? Infinity) : 0;
    for (const [messageId, { sequence }] of this.#shown) {
      if (present.has(messageId) || sequence < oldest) continue;
      this.#shown.delete(messageId);
      if (this.#growing === messageId) this.end();
      if (this.options.hasMarks && this.#growing === null) this.options.print('-- a message was deleted\n');
    }
  }

  #markStart(turn: Turn): void {
    if (turn.startedAt === null) return;
    const attempt = turn.attempt > 1 ? `, attempt ${turn.attempt}` : '';
    this.#mark(`start ${keyOf(turn)}`, `${turn.requestId} started (${turn.assistantId}${attempt})`);
  }

  #markEnd(turn: Turn): void {
    if (turn.endedAt === null) return;
    const why = turn.error?.message ?? turn.stopReason;
    this.#mark(`end ${keyOf(turn)}`, `${turn.requestId} ${turn.status}${why === null ? '' : ` (${why})`}`);
  }

  #mark(key: string, sentence: string): void {
    if (!this.options.hasMarks || this.#marked.has(key)) return;
    this.#marked.add(key);
    this.options.print(`-- turn ${sentence}\n`);
  }
}

const keyOf = ({ requestId, attempt }: Turn): string => `${requestId} ${attempt}`;

/** What a message says, in words where it has some. */
function textOf({ type, props }: Message): string {
  for (const key of ['content', 'message', 'url']) {
    const value = props[key];
    if (typeof value === 'string' && (key === 'content' || type !== 'tool_call')) return value;
  }
  return JSON.stringify(props);
}
