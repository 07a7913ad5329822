import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { DEFAULT_PREFIX, RedisConnection, type RedisOptions } from './connection.js';

/** How much a counter lets through. */
interface CounterBounds {
  /** Tells it from others. */
  readonly name: string;
  readonly points: number;
  /** Seconds after which what was counted is forgotten. */
  readonly duration: number;
}

type Connection = RedisConnection<Record<never, never>>;

/**
 * Counters that all nodes share, one round trip for each count. While Redis is away, or says nothing, each node counts for
 * itself: who comes then is let in rather than refused, and waits for one silence at most.
 *
 * @throws {ChatError} `storage_unavailable` where Redis does not answer
 */
export async function openRedisCounters(options: RedisOptions): Promise<{
  readonly counters: (bounds: CounterBounds) => RateLimiterRedis;
  readonly close: () => void;
}> {
  const { prefix = DEFAULT_PREFIX } = options;
  const connection: Connection = await RedisConnection.open({ ...options, name: 'turnstream-counters', scripts: {} });
  return {
    counters: ({ name, points, duration }) =>
      new RateLimiterRedis({
        storeClient: clientOver(connection),
        useRedisPackage: true,
        keyPrefix: `${prefix}rate:${name}`,
        points,
        duration,
        insuranceLimiter: new RateLimiterMemory({ points, duration }),
      }),
    close: () => connection.close(),
  };
}

/** What the library asks of a client, each as a question that is answered or fails (`RedisConnection`). */
const clientOver = (connection: Connection) => ({
  eval: (script: string, given: { readonly keys: string[]; readonly arguments: string[] }) =>
    connection.ask((client) => client.eval(script, given)),
  multi: () => ({
    get: (key: string) => ({
      pTTL: () => ({ exec: () => connection.ask((client) => client.multi().get(key).pTTL(key).exec(true)) }),
    }),
  }),
});
