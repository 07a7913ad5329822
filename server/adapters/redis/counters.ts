import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Counters } from '../../ports/counters.js';
import { DEFAULT_PREFIX, RedisConnection, type RedisOptions } from './connection.js';

type Connection = RedisConnection<Record<never, never>>;

/**
 * Counters that all nodes share, one round trip for each count.
 *
 * @throws {ChatError} `storage_unavailable` where Redis does not answer
 */
export async function openRedisCounters(options: RedisOptions): Promise<{
  readonly counters: Counters<RateLimiterRedis>;
  readonly close: () => void;
}> {
  const { prefix = DEFAULT_PREFIX } = options;
  const connection: Connection = await RedisConnection.open({ ...options, name: 'turnstream-counters', scripts: {} });
  return {
    counters: ({ name, points, seconds }) =>
      new RateLimiterRedis({
        storeClient: clientOver(connection),
        useRedisPackage: true,
        keyPrefix: `${prefix}rate:${name}`,
        points,
        duration: seconds,
        insuranceLimiter: new RateLimiterMemory({ points, duration: seconds }),
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
