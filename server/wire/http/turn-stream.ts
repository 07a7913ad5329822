import type { Response } from 'express';
import {
  ChatError,
  type ChatEvent,
  type Position,
  type Signal,
  type SubscribeResult,
} from '../../../protocol/index.js';
import type { Clock, Timer } from '../../clock.js';
import type { Log } from '../../log.js';
import type { Metrics } from '../../metrics.js';
import type { Identity } from '../../session/identity.js';
import type { Revocable } from '../../session/revocations.js';
import type { EndOfFollowing, EventBatch, Subscriber } from '../../session/subscriber.js';
import type { Caller } from '../caller.js';
import { asChatError } from '../as-chat-error.js';
import type { Dispatch } from '../dispatch.js';
import { EVENT_STREAM_HEAD, HEARTBEAT_MS } from './event-stream.js';
import { StreamOutbox } from './stream-outbox.js';

/**
 * How one turn is told in the protocol of some frontend: each method gives the text of the response, whole server-sent
 * events, `''` for nothing. It is pure but for its own state, and knows no response.
 */
export interface TurnForm {
  /** Names the protocol in `turnstream_connections`. */
  readonly namespace: string;
  /** Headers of the response beside those of every event stream. */
  readonly head?: Readonly<Record<string, string>>;
  /** How things stand: asked once, before anything else. What it throws or rejects with becomes the answer, as on any route. */
  begin(answer: SubscribeResult): string | Promise<string>;
  /** The next event of the chat, of this turn or not. Each comes once, in the order of the log, without a hole. */
  event(event: ChatEvent): string;
  /** A live hint (SUB-8); it may be of another turn. */
  signal?(signal: Signal): string;
  /** Events were missed (SUB-4): how things stand now. The next event follows on it. */
  again(answer: SubscribeResult): string;
  /** The last words where the stream ends before the turn: nobody will be told more here. */
  cut(error: ChatError): string;
  /** Whether all is said. It is looked at after each of the above; the response then ends. */
  readonly isOver: boolean;
}

export interface TurnStreamNeeds {
  readonly dispatch: Pick<Dispatch, 'subscribe'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'connections'>;
  readonly log: Log;
  readonly maxOutboxBytes: number;
}

/** What is followed. The position is the stream's own business. */
export interface TurnFollowed {
  readonly chatId: string;
  readonly messageLimit?: number;
}

/**
 * One response that follows a chat for the sake of one turn and tells it in a {@link TurnForm}, until the form is over.
 *
 * - Whatever ends it sooner (token, access, shutdown, a chat that cannot be followed any more) is told by `cut`; but who
 *   was shut out while he did not read, or does not keep up (SUB-7), is cut off without a word.
 * - A hole in the events is not seen by the form: the chat is subscribed again from the position held (SUB-4).
 * - A reader that leaves leaves the chat, and the turn goes on.
 */
export class TurnStream implements Subscriber, Revocable {
  readonly #outbox: StreamOutbox;
  /** What came before it could be told; null once it can. */
  #early: (() => void)[] | null = [];
  #position: Position | null = null;
  #beat: Timer | null = null;
  #unsubscribe: (() => void) | null = null;
  #onClosed: (() => void) | null = null;
  /** What the form threw, which it should not have. */
  #fault: ChatError | null = null;
  #isEnding = false;
  #isClosed = false;

  constructor(
    private readonly caller: Caller,
    private readonly response: Response,
    private readonly followed: TurnFollowed,
    private readonly form: TurnForm,
    private readonly needs: TurnStreamNeeds,
  ) {
    const { clock, metrics, maxOutboxBytes, log } = needs;
    const onSlow = (waitingBytes: number): void =>
      log.info({ ...this.#context, waitingBytes }, 'slow reader of a turn closed');
    this.#outbox = new StreamOutbox(response, { clock, maxOutboxBytes, onSlow });
    metrics.connections.inc({ namespace: form.namespace });
    response.on('close', () => this.abandon());
  }

  get identity(): Identity {
    return this.caller.identity;
  }

  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  /** Calls back once, when the stream is over for whatever reason. */
  closed(callback: () => void): void {
    this.#onClosed = callback;
  }

  /**
   * Subscribes and begins the response. Resolves once it has begun.
   *
   * @throws {ChatError} as `chat:subscribe`, and as the form's `begin`; the response is then untouched
   */
  async begin(): Promise<void> {
    const { result, unsubscribe } = await this.needs.dispatch.subscribe(this.caller, this.followed, this);
    if (this.#isClosed) return unsubscribe(); // the reader left while the answer was made
    this.#unsubscribe = unsubscribe;
    const text = await this.form.begin(result);
    if (this.#isClosed) return;
    this.response.writeHead(200, { ...EVENT_STREAM_HEAD, ...this.form.head });
    // There may be nothing to say yet; the comment lets the first byte through at once.
    this.#outbox.put(`: turnstream\n\n${text}`);
    this.#goOn(result);
    this.#beatLater();
  }

  deliver(batch: EventBatch): void {
    if (this.#early) return void this.#early.push(() => this.deliver(batch));
    let text = '';
    for (const event of batch.encoded(eventsOf)) {
      if (this.#isKnown(event)) continue;
      if (this.form.isOver || this.#fault) break;
      if (!this.#isNext(event)) {
        this.#put(text);
        return void this.#subscribeAgain();
      }
      this.#position = { epoch: event.epoch, offset: event.offset };
      text += this.#told(() => this.form.event(event));
    }
    this.#put(text);
  }

  signal(signal: Signal): void {
    if (this.#early) return void this.#early.push(() => this.signal(signal));
    if (this.#isEnding) return;
    this.#put(this.#told(() => this.form.signal?.(signal) ?? ''));
  }

  presence(): void {}

  ended(reason: EndOfFollowing): void {
    if (reason === 'moved') this.end(new ChatError('storage_unavailable', 'The chat has moved; connect again.'));
    else this.end(new ChatError('not_found'));
  }

  /** Says that the stream ends before its turn, and why, if all is not said; then the response ends. */
  end(why: ChatError): void {
    if (this.#early) return void this.#early.push(() => this.end(why));
    if (this.#isEnding || this.#isClosed) return;
    this.#outbox.put(this.form.isOver ? '' : this.form.cut(why));
    this.#finish();
  }

  /** Nothing more may be read: not what waits either. */
  revoked(): void {
    if (!this.#early && this.#outbox.idle) return this.end(new ChatError('unauthenticated', 'This token was revoked.'));
    this.abandon();
    this.response.destroy();
  }

  /** Leaves the chat and lets go of all that the stream holds; the response is left to whoever calls. */
  abandon(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leave();
    this.needs.metrics.connections.dec({ namespace: this.form.namespace });
    this.#onClosed?.();
  }

  get #context() {
    return { http: { id: this.response.req.id } };
  }

  #isKnown({ epoch, offset }: ChatEvent): boolean {
    return epoch === this.#position?.epoch && offset <= this.#position.offset;
  }

  #isNext({ epoch, offset }: ChatEvent): boolean {
    return epoch === this.#position?.epoch && offset === this.#position.offset + 1;
  }

  /** From the answer's position on; first what came before it could be told. */
  #goOn({ position }: SubscribeResult): void {
    this.#position = position;
    const early = this.#early ?? [];
    this.#early = null;
    this.#put('');
    for (const late of early) late();
  }

  /** SUB-4. What comes meanwhile waits. */
  async #subscribeAgain(): Promise<void> {
    const position = this.#position;
    this.#early = [];
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    try {
      const args = { ...this.followed, ...(position ? { position } : {}) };
      const { result, unsubscribe } = await this.needs.dispatch.subscribe(this.caller, args, this);
      if (this.#isClosed) return unsubscribe();
      this.#unsubscribe = unsubscribe;
      const { mode, events = [] } = result;
      this.#outbox.put(
        mode === 'replay'
          ? events.map((event) => this.#told(() => this.form.event(event))).join('')
          : this.#told(() => this.form.again(result)),
      );
      this.#goOn(result);
    } catch (error) {
      this.#early = null;
      this.end(asChatError(error, this.needs.log, this.#context));
    }
  }

  /** What the form says. Should it throw, the other followers of the chat notice nothing: this stream ends. */
  #told(say: () => string): string {
    if (this.form.isOver || this.#fault) return '';
    try {
      return say();
    } catch (error) {
      this.#fault = asChatError(error, this.needs.log, this.#context);
      return '';
    }
  }

  #put(text: string): void {
    if (this.#isClosed || this.#isEnding) return;
    if (text !== '') this.#outbox.put(text);
    if (this.form.isOver) this.#finish();
    else if (this.#fault) this.end(this.#fault);
  }

  /** All is said: the chat is followed no more, and the response ends once what waits is sent. */
  #finish(): void {
    this.#isEnding = true;
    this.#leave();
    this.#outbox.end();
  }

  #leave(): void {
    this.#beat?.cancel();
    this.#beat = null;
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }

  /** A comment each 15 s; and the end of the stream when the identity ends, which nothing can renew here. */
  #beatLater(): void {
    if (this.#isEnding || this.#isClosed) return;
    const { clock } = this.needs;
    const { expiresAt } = this.identity;
    const leftMs = expiresAt === null ? Infinity : expiresAt - clock.now();
    if (leftMs <= 0) return this.end(new ChatError('token_expired'));
    this.#beat = clock.after(Math.min(HEARTBEAT_MS, leftMs), () => {
      if (this.#outbox.idle) this.#outbox.put(': beat\n\n'); // a reader that is behind needs no sign of life
      this.#beatLater();
    });
  }
}

/** Parsed once for all who tell the batch in a form of their own; nobody changes what it holds. */
const eventsOf = ({ events }: EventBatch): readonly ChatEvent[] =>
  events.map(({ json }) => JSON.parse(json) as ChatEvent);
