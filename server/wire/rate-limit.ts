import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { ChatError } from '../../protocol/index.js';
import type { Counters } from '../ports/counters.js';
import { userKey, type Identity } from '../session/identity.js';

/** Bursts are this many times the steady rate: a client that comes back asks for much at once, then is quiet. */
const BURST = 10;

const SENTENCES: Readonly<Record<string, string>> = {
  rateLimitBytesPerSecond: 'Too many bytes; slow down.',
  rateLimitPerAddress: 'Too many failed attempts from this address; try again soon.',
};

type Counted = Pick<Identity, 'tenantId' | 'userId'>;

export interface RateLimits {
  readonly commandsPerSecond: number;
  readonly bytesPerSecond: number;
  /** Attempts to say who one is, of one address. */
  readonly attemptsPerSecond: number;
}

/** How much callers may ask of this process, or of all nodes. Each refusal is `rate_limited` with the limit and `retryAfterMs`. */
export interface RateLimit {
  /** One command of a user, over all their connections and requests. @throws {ChatError} `rate_limited`, at most a second away */
  command(user: Counted): Promise<void>;
  /** What a user has sent. @throws {ChatError} `rate_limited` */
  bytes(user: Counted, bytes: number): Promise<void>;
  /** A command with its bytes. @throws {ChatError} `rate_limited` */
  frame(user: Counted, bytes: number): Promise<void>;
  /**
   * Whether somebody at an address may say who they are: only attempts that failed count, so that a thousand people behind
   * one address do not stand in each other's way.
   *
   * @throws {ChatError} `rate_limited`, at most ten seconds away
   */
  mustHaveTries(address: string): Promise<void>;
  failed(address: string): void;
}

/** Counters of `rate-limiter-flexible`. */
export type RateCounters = Counters<RateLimiterAbstract>;

/** Of this process alone. */
const IN_MEMORY: RateCounters = ({ points, seconds }) => new RateLimiterMemory({ points, duration: seconds });

/**
 * A user has a steady rate each second, always. Beyond it there is a reserve of nine times as much, filled every ten
 * seconds, so that no second has more than ten times the rate.
 */
export function createRateLimit(
  { commandsPerSecond, bytesPerSecond, attemptsPerSecond }: RateLimits,
  counters: RateCounters = IN_MEMORY,
): RateLimit {
  const commands = bursty(counters, 'commands', commandsPerSecond);
  const bytes = bursty(counters, 'bytes', bytesPerSecond);
  const attempts = counters({ name: 'attempts', points: attemptsPerSecond * BURST, seconds: BURST });
  const command = (user: Counted): Promise<void> =>
    consume(commands, userKey(user), 1, { limit: 'rateLimitPerSecond', max: commandsPerSecond });
  const sent = (user: Counted, count: number): Promise<void> =>
    consume(bytes, userKey(user), count, { limit: 'rateLimitBytesPerSecond', max: bytesPerSecond });
  return {
    command,
    bytes: sent,
    async frame(user, count) {
      await command(user);
      await sent(user, count);
    },
    async mustHaveTries(address) {
      const tried = await attempts.get(address);
      if (tried !== null && tried.consumedPoints >= attempts.points)
        throw refusalOf(tried, { limit: 'rateLimitPerAddress', max: attemptsPerSecond });
    },
    // There is nothing that waits for it; where it cannot be counted, somebody has one try more.
    failed: (address) => void attempts.penalty(address, 1).catch(() => undefined),
  };
}

function bursty(counters: RateCounters, name: string, perSecond: number): BurstyRateLimiter {
  const steady = counters({ name, points: perSecond, seconds: 1 });
  const reserve = counters({ name: `${name}-reserve`, points: perSecond * (BURST - 1), seconds: BURST });
  return new BurstyRateLimiter(steady, reserve);
}

async function consume(
  limiter: Pick<RateLimiterAbstract, 'consume'>,
  key: string,
  points: number,
  details: { readonly limit: string; readonly max: number },
): Promise<void> {
  try {
    await limiter.consume(key, points);
  } catch (refusal) {
    // The library rejects with its answer, which is no error.
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw refusalOf(refusal, details, points > details.max ? BURST * 1000 : 0);
  }
}

/** One that is more than a second's worth fits into the reserve alone, which is filled in its own time. */
function refusalOf(
  { msBeforeNext }: RateLimiterRes,
  details: { readonly limit: string; readonly max: number },
  atLeastMs = 0,
): ChatError {
  const retryAfterMs = Math.max(1, atLeastMs, Math.ceil(msBeforeNext));
  return new ChatError('rate_limited', SENTENCES[details.limit], { details, retryAfterMs });
}
