import { delayOf, microsNow, TOKEN_LENGTH, tokenAt } from '../token.js';
import type { FrameTaker } from './frame-client.js';

/** Tokens of one chat are numbered through: those of its turn `n` begin at `n * TURN_STRIDE`. */
export const TURN_STRIDE = 4096;
/** In place of its first append's token, a turn has the moment from which its tokens are due. */
const BEGAN = 0x23;
const TEXT = Buffer.from('"text":"');
const QUOTE = 0x22;

/** Milliseconds, counted by the millisecond; what took longer than the last one counts there. */
export class Delays {
  readonly counts = new Uint32Array(60_000);
  count = 0;

  add(ms: number): void {
    const at = Math.min(this.counts.length - 1, Math.max(0, Math.floor(ms)));
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.count++;
  }

  /** Those that occurred, as pairs: what another process can be told. */
  toJSON(): [ms: number, count: number][] {
    return [...this.counts.entries()].filter(([, count]) => count > 0);
  }

  take(pairs: readonly (readonly [ms: number, count: number])[]): this {
    for (const [ms, count] of pairs) {
      this.counts[ms] = (this.counts[ms] ?? 0) + count;
      this.count += count;
    }
    return this;
  }

  quantile(q: number): number {
    let rest = Math.max(1, Math.ceil(this.count * q));
    return this.count === 0 ? Number.NaN : this.counts.findIndex((count) => (rest -= count) <= 0);
  }
}

/** What was wrong with what followers heard. */
export interface Faults {
  lost: number;
  twice: number;
  /** Neither lost nor double, but behind a later one. */
  late: number;
  /** Text that is no token. */
  torn: number;
}

export const noFaults = (): Faults => ({ lost: 0, twice: 0, late: 0, torn: 0 });

/** Every token that one follower hears of one chat, and whether it is the next one. */
export class TurnsHeard {
  tokens = 0;
  frames = 0;
  bytes = 0;
  readonly faults = noFaults();
  readonly #turns: Uint8Array[] = [];
  #last = -1;
  #beganAt = Number.NaN;

  /** @param perSecond the pace at which the tokens of a turn are due */
  constructor(
    private readonly perSecond: number,
    private readonly delays: Delays,
  ) {}

  readonly take: FrameTaker = (bytes, from, to) => {
    this.frames++;
    this.bytes += to - from;
    const frame = bytes.subarray(from, to);
    let now = 0;
    for (let at = frame.indexOf(TEXT); at >= 0; at = frame.indexOf(TEXT, at)) {
      now ||= microsNow();
      for (at += TEXT.length; at < frame.length && frame[at] !== QUOTE; at += TOKEN_LENGTH) this.#token(frame, at, now);
    }
  };

  #token(frame: Buffer, at: number, now: number): void {
    const began = tokenAt(frame, at, BEGAN);
    if (!Number.isNaN(began)) {
      this.#beganAt = began;
      return;
    }
    const number = tokenAt(frame, at);
    if (Number.isNaN(number)) {
      this.faults.torn++;
      return;
    }
    const turn = (this.#turns[Math.floor(number / TURN_STRIDE)] ??= new Uint8Array(TURN_STRIDE / 8));
    const within = number % TURN_STRIDE;
    const bit = 1 << (within & 7);
    const byte = turn[within >> 3] ?? 0;
    if (byte & bit) {
      this.faults.twice++;
      return;
    }
    turn[within >> 3] = byte | bit;
    this.tokens++;
    if (number < this.#last) this.faults.late++;
    else this.#last = number;
    this.delays.add(delayOf(this.#beganAt + (within * 1e6) / this.perSecond, now));
  }

  /** How many of so many tokens in each turn were not heard. */
  lost(turns: readonly number[]): number {
    return turns.reduce((sum, tokens, turn) => sum + tokens - ones(this.#turns[turn], tokens), 0);
  }
}

function ones(bits: Uint8Array | undefined, count: number): number {
  let found = 0;
  for (let i = 0; bits && i < count; i++) found += ((bits[i >> 3] ?? 0) >> (i & 7)) & 1;
  return found;
}
