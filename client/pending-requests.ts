import type { ChatError } from '../protocol/index.js';
import type { Clock, Timer } from './clock.js';
import { connectionLost, errorFrom, noAnswer } from './local-error.js';
import type { Link } from './transport.js';

/** How a command that was sent came out. */
export type Outcome =
  | { readonly type: 'data'; readonly data: unknown }
  /** The server said no. */
  | { readonly type: 'refused'; readonly error: ChatError }
  /** The link went first: whether the command was done is not known. */
  | { readonly type: 'lost'; readonly error: ChatError }
  /** The link stands and says nothing: whether the command was done is not known. */
  | { readonly type: 'no_answer'; readonly error: ChatError };

interface Waiting {
  readonly done: (outcome: Outcome) => void;
  readonly timer: Timer | null;
}

/** The commands of one connection that wait for their acknowledgement. Each is settled exactly once (C52). */
export class PendingRequests {
  readonly #waiting = new Set<Waiting>();

  constructor(private readonly clock: Clock) {}

  /** @param timeoutMs null for a command whose answer may take as long as the connection stands */
  send(link: Link, command: string, args: unknown, timeoutMs: number | null, done: (outcome: Outcome) => void): void {
    const expire = (after: number): Timer =>
      this.clock.after(after, () => this.#settle(waiting, { type: 'no_answer', error: noAnswer(command, after) }));
    const waiting: Waiting = { done, timer: timeoutMs === null ? null : expire(timeoutMs) };
    this.#waiting.add(waiting);
    link.send(command, args, (ack) => this.#settle(waiting, outcomeOf(ack)));
  }

  settleAll(why: string): void {
    for (const waiting of [...this.#waiting]) this.#settle(waiting, { type: 'lost', error: connectionLost(why) });
  }

  #settle(waiting: Waiting, outcome: Outcome): void {
    if (!this.#waiting.delete(waiting)) return;
    waiting.timer?.cancel();
    waiting.done(outcome);
  }
}

function outcomeOf(ack: unknown): Outcome {
  const { ok, data, error } = (ack ?? {}) as Record<string, unknown>;
  return ok === true ? { type: 'data', data } : { type: 'refused', error: errorFrom(error) };
}
