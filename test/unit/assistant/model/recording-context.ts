import {
  ChatError,
  foldMessage,
  wellFormed,
  type JsonObject,
  type Message,
  type MessageChangeBody,
} from '../../../../protocol/index.js';
import type { ModelContext } from '../../../../assistant/model/shown-messages.js';

const AT = '2026-01-01T00:00:00.000Z';

/** Whatever a case does not give is that of a message that was just opened. */
const opened = (messageId: string, sequence: number, type: string, props: JsonObject): Message => ({
  messageId,
  chatId: 'chat',
  requestId: 'request',
  role: 'assistant',
  type,
  props,
  blockId: null,
  threadId: null,
  stepId: null,
  assistantId: 'test',
  sequence,
  state: 'open',
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
});

/** A context without a server: it folds what it is told with the protocol's own fold, and its time is real but short. */
export class RecordingContext implements ModelContext {
  readonly messages: Message[] = [];
  /** What was done, one word each, with the number of the message. */
  readonly deeds: string[] = [];
  readonly waits: number[] = [];
  readonly abort = new AbortController();
  /** Throws instead of doing, to be a chat that refuses. */
  refuse: ((deed: string) => boolean) | null = null;
  /** Pauses are noted and not waited for; a silence is. */
  pausesAreInstant = true;

  get abortSignal(): AbortSignal {
    return this.abort.signal;
  }

  /** Type and content of each message, as people see it now. */
  get shown(): [string, unknown][] {
    return this.messages.map(({ type, props }) => [type, props['content'] ?? props['message']]);
  }

  get states(): string[] {
    return this.messages.map(({ state }) => state);
  }

  async send(message: string | { type: string; props: JsonObject }): Promise<string> {
    const { type, props } = typeof message === 'string' ? { type: 'text', props: { content: message } } : message;
    this.#allow('send', this.messages.length);
    const messageId = `message-${this.messages.length}`;
    this.messages.push(opened(messageId, this.messages.length + 1, type, cleaned(props)));
    return messageId;
  }

  async append(messageId: string, text: string, path = 'content'): Promise<void> {
    const held = this.#find(messageId).props[path];
    const from = typeof held === 'string' ? held.length : 0;
    this.#fold('append', messageId, { type: 'message.appended', messageId, path, from, text: wellFormed(text) });
  }

  async replace(messageId: string, message: string | { type: string; props: JsonObject }): Promise<void> {
    const { type, props } = typeof message === 'string' ? { type: 'text', props: { content: message } } : message;
    this.#fold('replace', messageId, { type: 'message.replaced', messageId, messageType: type, props: cleaned(props) });
  }

  async end(messageId: string): Promise<void> {
    this.#fold('end', messageId, { type: 'message.closed', messageId });
  }

  wait(ms: number, until?: AbortSignal): Promise<void> {
    this.waits.push(ms);
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        clearTimeout(timer);
        until?.removeEventListener('abort', enough);
        this.abortSignal.removeEventListener('abort', stopped);
        settle();
      };
      const enough = (): void => done(resolve);
      const stopped = (): void => done(() => reject(this.abortSignal.reason as Error));
      const timer = setTimeout(enough, until === undefined && this.pausesAreInstant ? 0 : ms);
      until?.addEventListener('abort', enough);
      this.abortSignal.addEventListener('abort', stopped);
    });
  }

  #find(messageId: string): Message {
    const held = this.messages.find((message) => message.messageId === messageId);
    if (held === undefined) throw new ChatError('not_found');
    return held;
  }

  #allow(deed: string, index: number): void {
    this.deeds.push(`${deed} ${index}`);
    if (this.abortSignal.aborted || this.refuse?.(deed)) throw new ChatError('turn_ended');
  }

  #fold(deed: string, messageId: string, change: MessageChangeBody): void {
    const index = this.messages.indexOf(this.#find(messageId));
    this.#allow(deed, index);
    this.messages[index] = foldMessage(this.messages[index]!, change);
  }
}

const cleaned = (props: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(props).map(([key, value]) => [key, typeof value === 'string' ? wellFormed(value) : value]),
  );
