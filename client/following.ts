import type { ChatError, ChatEvent, ChatView, PresentUser, SubscribeResult } from '../protocol/index.js';
import { applyEvents } from './apply-events.js';
import { backoffMs, type Backoff } from './backoff.js';
import type { Clock, Timer } from './clock.js';
import type { Connection } from './connection.js';
import type { IdSource } from './id-source.js';
import { joinSnapshot } from './join-snapshot.js';
import type { Outcome } from './pending-requests.js';

/** Why a chat is not followed any more. `revoked`: the access ended while it was followed; others were refused it. */
export type EndReason = 'deleted' | 'revoked' | 'forbidden' | 'not_found' | 'refused';

export type FollowPhase =
  /** Nobody wants it. */
  | { readonly name: 'idle' }
  /** Wanted, without a connection. */
  | { readonly name: 'offline' }
  /**
   * Subscribed, without the answer yet. What comes meanwhile waits for it (SUB-3). `presence`: what was told meanwhile;
   * the answer's may be older, and is told as well where it is newer. `doubtful`: a following has ended meanwhile, this
   * one or one of before.
   */
  | {
      readonly name: 'asking';
      readonly early: ChatEvent[];
      presence: readonly PresentUser[] | null;
      doubtful: boolean;
    }
  /** Every event comes. */
  | { readonly name: 'live'; readonly since: number }
  /** About to subscribe again. What comes meanwhile comes again with the answer. */
  | { readonly name: 'waiting'; readonly timer: Timer }
  | { readonly name: 'ended'; readonly reason: EndReason; readonly error: ChatError | null };

type Asking = Extract<FollowPhase, { name: 'asking' }>;

export interface FollowingNeeds {
  readonly chatId: string;
  readonly connection: Pick<Connection, 'isOpen' | 'request' | 'refresh'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  /** Newest messages of a snapshot. */
  readonly messageLimit: number;
  /** Called once after each change, with the events that were folded in. */
  readonly changed: (events: readonly ChatEvent[]) => void;
}

/** A following that stood so long was well: asking again begins without a wait. */
const STABLE_MS = 10_000;
/** Events kept while the answer is awaited; when there are more, they are asked for again. */
const MAX_EARLY_EVENTS = 10_000;

/**
 * Follows one chat over all connections: subscribes by position after each connect, folds what comes, and asks again
 * when something is missing, one question at a time. The view is the fold of the chat's log at its position, always.
 */
export class Following {
  #phase: FollowPhase = { name: 'idle' };
  #view: ChatView | null = null;
  #presence: readonly PresentUser[] = [];
  /** What was folded in since the last notice. */
  readonly #folded: ChatEvent[] = [];
  /** False after a fault: the view's position is worth nothing. */
  #trusted = true;
  /** Times in a row that the server had to be asked again. */
  #repeats = 0;
  #generation = 0;
  #unsureBelow: number | null = null;

  constructor(private readonly needs: FollowingNeeds) {}

  get phase(): FollowPhase {
    return this.#phase;
  }

  get view(): ChatView | null {
    return this.#view;
  }

  get presence(): readonly PresentUser[] {
    return this.#presence;
  }

  /** Raised by each snapshot: the view went on without events that tell how. */
  get generation(): number {
    return this.#generation;
  }

  /** See {@link Joined}; of the last snapshot. */
  get unsureBelow(): number | null {
    return this.#unsureBelow;
  }

  /** Begins to follow, or follows again what had ended. */
  follow(): void {
    const { name } = this.#phase;
    if (name !== 'idle' && name !== 'ended') return;
    this.#repeats = 0;
    if (this.needs.connection.isOpen) this.#ask();
    else this.#enter({ name: 'offline' });
  }

  leave(): void {
    const { name } = this.#phase;
    if (name === 'idle') return;
    this.#presence = [];
    this.#enter({ name: 'idle' });
    if (name === 'offline' || name === 'ended') return;
    const { connection, chatId, timeoutMs } = this.needs;
    connection.request('chat:unsubscribe', { chatId }, timeoutMs, () => undefined);
  }

  /** Forgets the view. Only while nobody follows. */
  forget(): void {
    this.#view = null;
    this.#notify();
  }

  connected(): void {
    if (this.#phase.name === 'offline') this.#ask();
  }

  disconnected(): void {
    if (this.#phase.name === 'idle' || this.#phase.name === 'ended') return;
    this.#presence = [];
    this.#enter({ name: 'offline' });
  }

  events(batch: readonly ChatEvent[]): void {
    const phase = this.#phase;
    if (phase.name === 'asking') {
      if (phase.early.length < MAX_EARLY_EVENTS) phase.early.push(...batch);
    } else if (phase.name === 'live') {
      this.#fold(batch);
      this.#notify();
    }
  }

  /** The server has ended the following, because the access has ended (SUB-5). */
  revoked(): void {
    const phase = this.#phase;
    if (phase.name === 'asking') phase.doubtful = true;
    else if (phase.name === 'live' || phase.name === 'waiting') {
      this.#presence = [];
      this.#enter({ name: 'ended', reason: 'revoked', error: null });
    }
  }

  present(users: readonly PresentUser[]): void {
    if (this.#phase.name === 'idle') return;
    if (this.#phase.name === 'asking') this.#phase.presence = users;
    this.#presence = users;
    this.#notify();
  }

  /** Asks again from the view's position (SUB-4). */
  again(): void {
    if (this.#phase.name === 'live') this.#repeat();
  }

  /** Replaces messages that the log does not tell about: older pages. The position stays. */
  rewrite(view: ChatView): void {
    this.#view = view;
    this.#notify();
  }

  #enter(phase: FollowPhase): void {
    if (this.#phase.name === 'waiting') this.#phase.timer.cancel();
    this.#phase = phase;
    this.#notify();
  }

  #notify(): void {
    this.needs.changed(this.#folded.splice(0));
  }

  #ask(): void {
    const { connection, chatId, messageLimit, timeoutMs } = this.needs;
    const phase: Asking = { name: 'asking', early: [], presence: null, doubtful: false };
    this.#enter(phase);
    const position = this.#view && this.#trusted ? { position: this.#view.position } : {};
    connection.request('chat:subscribe', { chatId, messageLimit, ...position }, timeoutMs, (outcome) => {
      // Any other phase: the chat was left, or the connection went, and this answer says nothing any more.
      if (this.#phase === phase) this.#answered(outcome, phase);
    });
  }

  #answered(outcome: Outcome, asking: Asking): void {
    switch (outcome.type) {
      case 'data':
        return isSubscription(outcome.data) && !asking.doubtful ? this.#begin(outcome.data, asking) : this.#repeat();
      case 'lost':
        return this.#enter({ name: 'offline' });
      case 'no_answer':
        return this.#repeat();
      case 'refused':
        if (outcome.error.code === 'token_expired') this.needs.connection.refresh();
        if (outcome.error.retryable) return this.#repeat(outcome.error.retryAfterMs);
        return this.#enter({ name: 'ended', reason: endReason(outcome.error), error: outcome.error });
    }
  }

  /** The answer, then the events that came before it, in one step for those who watch. */
  #begin(answer: SubscribeResult, { early, presence }: Asking): void {
    this.#presence = presence ?? answer.presence;
    this.#phase = { name: 'live', since: this.needs.clock.now() };
    if (answer.mode === 'snapshot') this.#take(answer);
    const fits = (answer.mode === 'snapshot' || this.#replay(answer)) && this.#fold(early);
    if (fits && early.length >= MAX_EARLY_EVENTS) this.again();
    this.#notify();
  }

  #take(answer: SubscribeResult): void {
    const { view, unsureBelow } = joinSnapshot(this.#view, answer);
    this.#view = view;
    this.#unsureBelow = unsureBelow;
    this.#generation++;
    this.#trusted = true;
  }

  #replay(answer: SubscribeResult): boolean {
    if (!this.#fold(answer.events ?? [])) return false;
    const { epoch, offset } = answer.position;
    const view = this.#view;
    if (!view || view.position.epoch !== epoch || view.position.offset !== offset) return this.#distrust();
    this.#view = { ...view, chat: answer.chat };
    return true;
  }

  /** Folds what fits, and asks again where something is missing. @returns whether nothing is, and more may be folded */
  #fold(batch: readonly ChatEvent[]): boolean {
    if (!this.#view) return this.#distrust();
    const { view, events, verdict } = applyEvents(this.#view, batch);
    this.#view = view;
    this.#folded.push(...events);
    if (view.deleted) {
      this.#phase = { name: 'ended', reason: 'deleted', error: null };
      return false;
    }
    if (verdict === 'fault') return this.#distrust();
    if (verdict === 'gap') this.#repeat();
    return verdict === 'ok';
  }

  #distrust(): false {
    this.#trusted = false;
    this.#repeat();
    return false;
  }

  /** Subscribes again: at once the first time, later with a growing wait. */
  #repeat(askedMs = 0): void {
    const phase = this.#phase;
    const { clock, ids, backoff } = this.needs;
    if (phase.name === 'live' && clock.now() - phase.since >= STABLE_MS) this.#repeats = 0;
    const wait = this.#repeats === 0 ? askedMs : backoffMs(backoff, this.#repeats - 1, ids.fraction(), askedMs);
    this.#repeats++;
    if (wait === 0) return this.#ask();
    this.#enter({ name: 'waiting', timer: clock.after(wait, () => this.#ask()) });
  }
}

const isSubscription = (data: unknown): data is SubscribeResult =>
  data !== null && typeof data === 'object' && 'position' in data && 'chat' in data && 'mode' in data;

function endReason({ code }: ChatError): EndReason {
  return code === 'forbidden' || code === 'not_found' ? code : 'refused';
}
