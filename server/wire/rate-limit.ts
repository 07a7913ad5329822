import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ChatError } from '../../protocol/index.js';
import { userKey, type Identity } from '../session/identity.js';

/** Bursts are this many times the steady rate: a client that comes back asks for much at once, then is quiet. */
const BURST = 10;

/** How many commands one user may give, over all their connections and requests to this process. */
export interface RateLimit {
  /** Counts one command. @throws {ChatError} `rate_limited` with `retryAfterMs`, at most a second */
  consume(identity: Pick<Identity, 'tenantId' | 'userId'>): Promise<void>;
}

/**
 * `perSecond` commands each second, always; beyond them a reserve, filled every ten seconds, so that no second has more
 * than ten times as many. What is refused costs nothing.
 *
 * What is counted lives in memory and is forgotten after ten seconds; a user is one within their tenant. On several
 * nodes each node counts for itself.
 */
export function createRateLimit({ perSecond }: { readonly perSecond: number }): RateLimit {
  const steady = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const reserve = new RateLimiterMemory({ points: perSecond * (BURST - 1), duration: BURST });
  const limiter = new BurstyRateLimiter(steady, reserve);
  return {
    async consume(identity) {
      try {
        await limiter.consume(userKey(identity));
      } catch (refusal) {
        // The library rejects with its answer, which is no error.
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw new ChatError('rate_limited', undefined, { retryAfterMs: Math.max(1, Math.ceil(refusal.msBeforeNext)) });
      }
    },
  };
}
