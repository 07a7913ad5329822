import {
  ChatError,
  type ChatEvent,
  type ChatView,
  type Position,
  type SubscribeResult,
  viewOf,
} from '../../../../protocol/index.js';
import { isEventBatch } from '../../../apply-events.js';
import { backoffMs, DEFAULT_BACKOFF } from '../../../backoff.js';
import type { Clock, Timer } from '../../../clock.js';
import { Connection, type ConnectionOptions } from '../../../connection.js';
import type { Outcome } from '../../../pending-requests.js';
import { Held, type Store } from '../../../store.js';
import type { StartReason } from './entry.js';
import { LogBook } from './log-book.js';
import { reachBack } from './reach-back.js';
import { retell } from './retell.js';

export type SourceState =
  /** What the server has of it is being read. */
  | { readonly status: 'reading' }
  /** Every event comes as it happens. */
  | { readonly status: 'live' }
  | { readonly status: 'offline'; readonly error: ChatError | null }
  /** The chat was deleted, or may not be read (any more). */
  | { readonly status: 'ended'; readonly reason: 'deleted' | 'revoked' | 'refused'; readonly error: ChatError | null };

export interface LogSourceNeeds {
  readonly chatId: string;
  readonly connection: Omit<ConnectionOptions, 'awaitHello'>;
}

/** When an event was heard, by this page's clock, beside the server's: for how long ago things are. */
export interface Heard {
  readonly at: number;
  readonly local: number;
}

const ASK_TIMEOUT_MS = 30_000;
/** The most that a snapshot may hold. */
const SNAPSHOT_MESSAGES = 200;
/** Held back while a question is open; more than that is asked for again. */
const MAX_EARLY_EVENTS = 10_000;

/** One question of the server after another, until it has told where the log stands. */
interface Asking {
  readonly early: ChatEvent[];
  isLive: boolean;
}

/**
 * Follows one chat for its log: every event in order, from as far back as the server replays them. A connection of its own,
 * because a view folds events and forgets them.
 */
export class LogSource {
  readonly book = new LogBook();
  readonly #state = new Held<SourceState>({ status: 'reading' });
  readonly #connection: Connection;
  readonly #clock: Clock;
  #asking: Asking | null = null;
  #timer: Timer | null = null;
  #failures = 0;
  /** What did not fit, so that the position of what is held is worth nothing. */
  #problem: string | null = null;
  #heard: Heard | null = null;

  constructor(private readonly needs: LogSourceNeeds) {
    this.#clock = needs.connection.clock;
    this.#connection = new Connection(
      { ...needs.connection, awaitHello: true },
      {
        opened: () => this.#follow(),
        refreshed: () => undefined,
        lost: () => this.#pause(null),
        closed: (error) => this.#pause(error),
        received: (event, body) => this.#received(event, body),
      },
    );
  }

  get state(): Store<SourceState> {
    return this.#state;
  }

  /** The last event that came as it happened; null before one has. */
  get heard(): Heard | null {
    return this.#heard;
  }

  open(): void {
    this.#connection.connect();
  }

  close(): void {
    this.#connection.close();
  }

  /** To be called when another token is there. */
  renew(): void {
    if (this.#connection.isOpen) this.#connection.refresh();
    else this.#connection.connect();
  }

  /** Asks once more, after the end. */
  again(): void {
    if (this.#state.getSnapshot().status === 'ended' && this.#connection.isOpen) this.#follow();
  }

  #pause(error: ChatError | null): void {
    this.#asking = null;
    this.#timer?.cancel();
    if (this.#state.getSnapshot().status !== 'ended') this.#state.set({ status: 'offline', error });
  }

  #received(event: string, body: unknown): void {
    if (event === 'events' && isEventBatch(body) && body[0]?.chatId === this.needs.chatId) this.#events(body);
    else if (event === 'unsubscribed' && this.#isAbout(body)) this.#end('revoked', null);
  }

  #isAbout(body: unknown): boolean {
    return body !== null && typeof body === 'object' && 'chatId' in body && body.chatId === this.needs.chatId;
  }

  #events(batch: readonly ChatEvent[]): void {
    const asking = this.#asking;
    if (!asking) return;
    if (!asking.isLive) {
      if (asking.early.length < MAX_EARLY_EVENTS) asking.early.push(...batch);
      return;
    }
    const last = batch.at(-1);
    if (last) this.#heard = { at: Date.parse(last.at), local: this.#clock.now() };
    this.#take(batch);
  }

  /** @returns whether all of it fits */
  #take(events: readonly ChatEvent[]): boolean {
    const problem = this.book.add(events);
    if (problem !== null) {
      this.#problem = this.#isGap(events) ? null : problem;
      this.#repeat();
      return false;
    }
    if (this.book.state.getSnapshot().tip?.deleted) this.#end('deleted', null);
    return true;
  }

  /** Something is missing before the first that is not held, rather than wrong in it. */
  #isGap(events: readonly ChatEvent[]): boolean {
    const held = this.book.state.getSnapshot().tip?.position;
    const first = events.find(({ epoch, offset }) => epoch !== held?.epoch || offset > held.offset);
    return !held || first?.epoch !== held.epoch || first.offset !== held.offset + 1;
  }

  #end(reason: 'deleted' | 'revoked' | 'refused', error: ChatError | null): void {
    this.#asking = null;
    this.#timer?.cancel();
    this.#state.set({ status: 'ended', reason, error });
  }

  #follow(): void {
    const asking: Asking = { early: [], isLive: false };
    this.#asking = asking;
    this.#state.set({ status: 'reading' });
    this.#read(() => this.#asking === asking).then(
      () => {
        if (this.#asking !== asking) return;
        asking.isLive = true;
        this.#failures = 0;
        if (!this.#take(asking.early) || this.#asking !== asking) return;
        this.#state.set({ status: 'live' });
      },
      (error: unknown) => {
        if (this.#asking === asking) this.#failed(error);
      },
    );
  }

  async #read(isCurrent: () => boolean): Promise<void> {
    const held = this.book.state.getSnapshot().tip;
    const position = held && this.#problem === null ? held.position : undefined;
    const answer = await this.#subscribe(position, SNAPSHOT_MESSAGES);
    if (!isCurrent()) return;
    if (answer.mode === 'replay') {
      const problem = this.book.add(answer.events ?? []);
      if (problem === null) return;
      this.#problem = problem;
      throw new ChatError('internal', problem);
    }
    const snapshot = viewOf(answer);
    const events = await reachBack(snapshot.position, async (after) => {
      const replayed = isCurrent() ? await this.#subscribe(after, 1) : null;
      return replayed?.mode === 'replay' ? (replayed.events ?? []) : null;
    });
    if (isCurrent()) this.#begin(snapshot, events, held);
  }

  /** The log from as far back as it is told, without what is held of it. */
  #begin(snapshot: ChatView, events: readonly ChatEvent[], held: ChatView | null): void {
    const { epoch, offset } = snapshot.position;
    const isSameLog = held?.position.epoch === epoch;
    const since = isSameLog ? held.position.offset : 0;
    const missed = events.filter((event) => event.offset <= offset && event.offset > since);
    const problem = this.#problem ?? '';
    const why: StartReason = !held ? 'opened' : !isSameLog ? 'epoch' : problem === '' ? 'gap' : 'misfit';
    this.#problem = null;
    this.book.add(retell(snapshot, missed, { why, problem }).drafts);
    this.#asking?.early.unshift(...events.filter((event) => event.offset > offset));
  }

  #failed(error: unknown): void {
    const refusal = error instanceof ChatError ? error : new ChatError('internal');
    if (refusal.code === 'token_expired') this.#connection.refresh();
    if (!refusal.retryable) return this.#end('refused', refusal);
    this.#repeat(refusal.retryAfterMs);
  }

  /** At once the first time, later with a growing wait. */
  #repeat(askedMs = 0): void {
    this.#asking = null;
    this.#timer?.cancel();
    const { ids } = this.needs.connection;
    const wait = this.#failures === 0 ? askedMs : backoffMs(DEFAULT_BACKOFF, this.#failures, ids.fraction(), askedMs);
    this.#failures++;
    this.#timer = this.#clock.after(wait, () => {
      if (this.#connection.isOpen) this.#follow();
    });
  }

  #subscribe(position: Position | undefined, messageLimit: number): Promise<SubscribeResult> {
    const args = { chatId: this.needs.chatId, messageLimit, ...(position ? { position } : {}) };
    return new Promise((resolve, reject) => {
      this.#connection.request('chat:subscribe', args, ASK_TIMEOUT_MS, (outcome: Outcome) => {
        if (outcome.type === 'data') resolve(outcome.data as SubscribeResult);
        else reject(outcome.error);
      });
    });
  }
}
