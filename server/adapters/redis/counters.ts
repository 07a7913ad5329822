import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import type { Log } from '../../log.js';

/** How much a counter lets through. */
interface CounterBounds {
  /** Tells it from others. */
  readonly name: string;
  readonly points: number;
  /** Seconds after which what was counted is forgotten. */
  readonly duration: number;
}

export interface RedisCountersOptions {
  readonly url: string;
  readonly log: Log;
  readonly prefix: string;
}

/**
 * Counters that all nodes share, one round trip for each count. While Redis is away each node counts for itself: who comes
 * then is let in rather than refused.
 */
export async function openRedisCounters({ url, log, prefix }: RedisCountersOptions): Promise<{
  readonly counters: (bounds: CounterBounds) => RateLimiterRedis;
  readonly close: () => void;
}> {
  const client = createClient({ url, name: 'turnstream-counters', disableOfflineQueue: true });
  let isUp = true;
  client.on('error', (error: unknown) => {
    if (isUp) log.warn({ err: error }, 'callers are counted by each node for itself at present');
    isUp = false;
  });
  client.on('ready', () => (isUp = true));
  await client.connect();
  return {
    counters: ({ name, points, duration }) =>
      new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        keyPrefix: `${prefix}rate:${name}`,
        points,
        duration,
        insuranceLimiter: new RateLimiterMemory({ points, duration }),
      }),
    close: () => client.destroy(),
  };
}
