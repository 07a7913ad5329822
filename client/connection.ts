import {
  DEFAULT_LIMITS,
  PROTOCOL_VERSION,
  ChatError,
  type Goaway,
  type Hello,
  type Limits,
} from '../protocol/index.js';
import type { Backoff } from './backoff.js';
import type { Clock, Timer } from './clock.js';
import { nextConnection, type ConnectionEvent, type ConnectionState } from './connection-state.js';
import type { IdSource } from './id-source.js';
import { clientClosed, connectionLost, tokenFailed, unreachable } from './local-error.js';
import { PendingRequests, type Outcome } from './pending-requests.js';
import { Held, type Store } from './store.js';
import { canRefresh, handshakeOf, tokenFrom, type Credentials } from './token.js';
import type { Link, Transport } from './transport.js';
import type { WakeSource } from './wake.js';

export interface ConnectionOptions extends Credentials {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly backoff: Backoff;
  readonly wake: WakeSource;
  /** Limit on one attempt to connect, token included, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Whether the connection counts as open only once the server has said `hello`, and with it its limits. */
  readonly awaitHello: boolean;
}

/** What happens on a connection, for the one who owns it. */
export interface ConnectionListener {
  /** Commands can be sent. */
  opened(): void;
  /** The identity was renewed in place: what was refused for an expired token can be sent again. */
  refreshed(): void;
  /** No longer open; every request has been settled. A later `opened` may follow. */
  lost(): void;
  /** Nothing is tried any more, until `connect` is called. */
  closed(error: ChatError | null): void;
  received(event: string, body: unknown, reply: ((answer: unknown) => void) | null): void;
}

/** C58: how long a link may take to answer after the page was asleep, milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;
const REFRESH_TIMEOUT_MS = 10_000;

/** Runs {@link nextConnection}: opens and closes links, keeps the timers, settles every request (C52). */
export class Connection {
  readonly #state = new Held<ConnectionState>({ status: 'idle' });
  readonly #requests: PendingRequests;
  readonly #events: ConnectionEvent[] = [];
  #applying = false;
  #link: Link | null = null;
  #timer: Timer | null = null;
  #stopWaking: (() => void) | null = null;
  /** The link whose identity is being renewed. */
  #refreshing: Link | null = null;
  #limits: Limits = DEFAULT_LIMITS;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly listener: ConnectionListener,
  ) {
    this.#requests = new PendingRequests(options.clock);
  }

  get state(): Store<ConnectionState> {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#link !== null && this.#state.getSnapshot().status === 'open';
  }

  /** The bounds that the server announced last; the protocol's before it has. */
  get limits(): Limits {
    return this.#limits;
  }

  connect(): void {
    this.#apply({ type: 'connect' });
  }

  close(error: ChatError | null = null): void {
    this.#apply({ type: 'close', error });
  }

  /** Sends one command on the open link. `done` is called exactly once, later: also when the link goes or says nothing. */
  request(command: string, args: unknown, timeoutMs: number | null, done: (outcome: Outcome) => void): void {
    const link = this.#link;
    if (!link || !this.isOpen) return done({ type: 'lost', error: connectionLost('not connected') });
    this.#requests.send(link, command, args, timeoutMs, done);
  }

  /** Asks for a fresh token and renews the identity in place (CON-5). @returns whether a fresh token can be had */
  refresh(): boolean {
    const { token } = this.options;
    if (typeof token !== 'function') return false;
    const link = this.#link;
    if (link === null || this.#refreshing === link) return true;
    this.#refreshing = link;
    const done = (): void => {
      if (this.#refreshing === link) this.#refreshing = null;
    };
    // A failure is the server's to answer: it closes the connection, and the next attempt asks for a token again.
    tokenFrom(token, new ChatError('token_expired')).then((fresh) => {
      // One that came too late is of no use to the next connection, which was made with one of its own.
      if (this.#link !== link) return done();
      this.request('auth:refresh', { token: fresh }, REFRESH_TIMEOUT_MS, (outcome) => {
        done();
        if (outcome.type !== 'data') return;
        this.#apply({ type: 'refreshed' });
        this.listener.refreshed();
      });
    }, done);
    return true;
  }

  /** One event at a time: what a listener sets off waits until the present one is through. */
  #apply(event: ConnectionEvent): void {
    this.#events.push(event);
    if (this.#applying) return;
    this.#applying = true;
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#step(next);
    } finally {
      this.#applying = false;
    }
  }

  #step(event: ConnectionEvent): void {
    const { clock, ids, backoff } = this.options;
    const before = this.#state.getSnapshot();
    const after = nextConnection(before, event, {
      backoff,
      canRefresh: canRefresh(this.options),
      now: clock.now(),
      fraction: ids.fraction(),
    });
    if (after === before) return;
    const isSamePhase = before.status === 'open' && after.status === 'open';
    const isEstablished = before.status === 'connecting' && after.status === 'open';
    if (!isSamePhase) this.#leave(isEstablished);
    this.#state.set(after);
    if (before.status === 'open' && !isSamePhase) this.listener.lost();
    if (!isSamePhase) this.#enter(after);
  }

  #leave(keepLink: boolean): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (keepLink) return;
    const link = this.#link;
    this.#link = null;
    link?.close();
    this.#requests.settleAll('the link is gone');
  }

  #enter(state: ConnectionState): void {
    const { clock, wake } = this.options;
    if (state.status !== 'closed' && state.status !== 'idle') this.#stopWaking ??= wake(() => this.#woken());
    switch (state.status) {
      case 'idle':
        return;
      case 'connecting':
        return this.#attempt(state);
      case 'open':
        return this.listener.opened();
      case 'waiting':
        this.#timer = clock.after(state.retryAt - clock.now(), () => this.#apply({ type: 'due' }));
        return;
      case 'closed':
        this.#stopWaking?.();
        this.#stopWaking = null;
        return this.listener.closed(state.error);
    }
  }

  #attempt(state: ConnectionState & { status: 'connecting' }): void {
    const { clock, connectTimeoutMs, transport } = this.options;
    const isCurrent = (): boolean => this.#state.getSnapshot() === state;
    const fail = (error: ChatError): void => {
      if (isCurrent()) this.#apply({ type: 'failed', error });
    };
    this.#timer = clock.after(connectTimeoutMs, () => fail(unreachable(`no answer within ${connectTimeoutMs} ms`)));
    handshakeOf(this.options, state.refused)
      .then((handshake) => {
        if (!isCurrent()) return;
        const link: Link = transport.open(handshake, {
          opened: () => {
            if (!this.options.awaitHello && isCurrent()) this.#apply({ type: 'opened', hello: null });
          },
          refused: fail,
          closed: (why) => {
            if (this.#link !== link) return;
            fail(unreachable(why));
            this.#apply({ type: 'lost', error: unreachable(why) });
          },
          received: (event, body, reply) => {
            if (this.#link === link) this.#received(event, body, reply);
          },
        });
        this.#link = link;
      })
      .catch((error: unknown) => fail(tokenFailed(error)));
  }

  #received(event: string, body: unknown, reply: ((answer: unknown) => void) | null): void {
    if (event === 'hello') return this.#hello(body);
    if (event !== 'goaway') return this.listener.received(event, body, reply);
    if (!isGoaway(body)) return;
    this.#apply({ type: 'goaway', goaway: body });
    if (body.code === 'token_expired') this.refresh();
  }

  #hello(body: unknown): void {
    if (!isHello(body) || body.protocol !== PROTOCOL_VERSION) {
      return this.#apply({ type: 'close', error: new ChatError('unsupported', 'The server speaks another protocol.') });
    }
    this.#limits = { ...DEFAULT_LIMITS, ...body.limits };
    this.#apply({ type: 'opened', hello: body });
  }

  #woken(): void {
    this.#apply({ type: 'wake' });
    if (!this.isOpen) return;
    // What an engine slept through it does not know: the link proves itself, or is given up. To unsubscribe from a chat
    // that nobody follows changes nothing, and any answer will do.
    this.request('chat:unsubscribe', { chatId: this.options.ids.id() }, PROBE_TIMEOUT_MS, (outcome) => {
      if (outcome.type !== 'no_answer') return;
      this.#apply({ type: 'lost', error: outcome.error });
      this.#apply({ type: 'wake' });
    });
  }
}

/** The error of those who ask of a client that is closed. */
export const closedError = (state: ConnectionState): ChatError =>
  clientClosed(state.status === 'closed' ? state.error : null);

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object';
const isHello = (body: unknown): body is Hello => isObject(body) && isObject(body['limits']);
const isGoaway = (body: unknown): body is Goaway =>
  isObject(body) && typeof body['code'] === 'string' && typeof body['reconnect'] === 'boolean';
