import type { Response } from 'express';
import { positionText, type Position } from '../../../protocol/index.js';
import type { Clock, Timer } from '../../clock.js';
import type { Log } from '../../log.js';
import type { Metrics } from '../../metrics.js';
import type { LoggedEvent } from '../../ports/live-log.js';
import type { Identity } from '../../session/identity.js';
import type { Revocable } from '../../session/revocations.js';
import type { EventBatch, Subscriber } from '../../session/subscriber.js';
import type { Following } from '../dispatch.js';
import { StreamOutbox } from './stream-outbox.js';

/** Proxies cut what is quiet for a minute, some for thirty seconds (C56). */
export const HEARTBEAT_MS = 15_000;

/** The headers of every stream of server-sent events. */
export const EVENT_STREAM_HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform`: a proxy that compresses would hold text back until it has enough of it.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export interface EventStreamNeeds {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'connections'>;
  readonly log: Log;
  readonly maxOutboxBytes: number;
}

/**
 * One response that follows one chat: the subscribe answer as `snapshot`, or on replay the events missed; then one
 * `message` per event, each once and in the order of the log. Presence and signals have no place in the log, so they are
 * not sent: `EventSource` would take their id-less events for progress of the same stream.
 */
export class EventStream implements Subscriber, Revocable {
  readonly #outbox: StreamOutbox;
  /** What came before the answer did; null once the answer is sent. */
  #early: EventBatch[] | null = [];
  #endedEarly = false;
  #position: Position | null = null;
  #beat: Timer | null = null;
  #unsubscribe: (() => void) | null = null;
  #onClosed: (() => void) | null = null;
  #isClosed = false;

  constructor(
    readonly identity: Identity,
    private readonly response: Response,
    private readonly needs: EventStreamNeeds,
  ) {
    const { clock, metrics, maxOutboxBytes, log } = needs;
    const onSlow = (waitingBytes: number): void =>
      log.info({ http: { id: response.req.id }, waitingBytes }, 'slow reader of events closed');
    this.#outbox = new StreamOutbox(response, { clock, maxOutboxBytes, onSlow });
    metrics.connections.inc({ namespace: 'events' });
    response.on('close', () => this.abandon());
  }

  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  /** Calls back once, when the stream is over for whatever reason. */
  closed(callback: () => void): void {
    this.#onClosed = callback;
  }

  /** Sends the head and the answer at once, then what came meanwhile. */
  begin({ result, unsubscribe }: Following): void {
    if (this.#isClosed) {
      unsubscribe(); // the reader left while the answer was made
      return;
    }
    this.#unsubscribe = unsubscribe;
    this.response.writeHead(200, EVENT_STREAM_HEAD);
    // Replay may have nothing to say; the comment lets the first byte through at once.
    const answer =
      result.mode === 'snapshot'
        ? frame(JSON.stringify(result), result.position, 'snapshot')
        : (result.events ?? []).map((event) => frame(JSON.stringify(event), event)).join('');
    this.#outbox.put(`: turnstream\n\n${answer}`);
    this.#position = result.position;
    const early = this.#early ?? [];
    this.#early = null;
    for (const batch of early) this.deliver(batch);
    if (this.#endedEarly) this.#outbox.end();
    else this.#beatLater();
  }

  deliver(batch: EventBatch): void {
    if (this.#early) {
      this.#early.push(batch);
      return;
    }
    const [first] = batch.events;
    const last = batch.events.at(-1);
    if (!first || !last) return;
    this.#outbox.put(
      this.#isNew(first)
        ? batch.encoded(framesOf)
        : batch.events
            .filter((event) => this.#isNew(event))
            .map(eventFrame)
            .join(''),
    );
    if (this.#isNew(last)) this.#position = { epoch: last.epoch, offset: last.offset };
  }

  signal(): void {}

  presence(): void {}

  /** The chat is followed no more: what waits goes out, then the response ends. */
  ended(): void {
    if (this.#early) this.#endedEarly = true;
    else this.#outbox.end();
  }

  /** Nothing more may be read: not what waits either. */
  revoked(): void {
    this.abandon();
    this.response.destroy();
  }

  /** Leaves the chat and lets go of all that the stream holds; the response is left to whoever calls. */
  abandon(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#beat?.cancel();
    this.#unsubscribe?.();
    this.needs.metrics.connections.dec({ namespace: 'events' });
    this.#onClosed?.();
  }

  #isNew({ epoch, offset }: LoggedEvent): boolean {
    return this.#position === null || epoch !== this.#position.epoch || offset > this.#position.offset;
  }

  /** A comment each 15 s; and the end of the stream when the identity ends, which nothing can renew here. */
  #beatLater(): void {
    const { clock } = this.needs;
    const { expiresAt } = this.identity;
    const leftMs = expiresAt === null ? Infinity : expiresAt - clock.now();
    if (leftMs <= 0) {
      this.#outbox.end();
      return;
    }
    this.#beat = clock.after(Math.min(HEARTBEAT_MS, leftMs), () => {
      if (this.#outbox.idle) this.#outbox.put(': beat\n\n'); // a reader that is behind needs no sign of life
      this.#beatLater();
    });
  }
}

/** One event of a stream. JSON has no line breaks of its own, so one `data` line holds it. */
function frame(json: string, at: Position, name?: 'snapshot'): string {
  return `${name === undefined ? '' : `event: ${name}\n`}id: ${positionText(at)}\ndata: ${json}\n\n`;
}

const eventFrame = (event: LoggedEvent): string => frame(event.json, event);

const framesOf = (batch: EventBatch): string => batch.events.map(eventFrame).join('');
