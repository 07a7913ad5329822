import { createClient } from 'redis';
import { describe, onTestFinished } from 'vitest';
import { canMakeRedis, makeRedis, type Redis } from '../../tools/redis-server.mjs';

/** A `describe` for tests that need a Redis of their own; skipped where the machine has no `redis-server`. */
export const describeWithRedisServer = describe.skipIf(!canMakeRedis());

/** A Redis of one test, and what one command answers there. */
export interface RedisServer extends Redis {
  command(...words: string[]): Promise<unknown>;
}

/** Starts one, which ends with the test. */
export async function startRedis(): Promise<RedisServer> {
  const redis = await makeRedis();
  onTestFinished(() => redis.remove());
  await redis.start();
  return {
    ...redis,
    async command(...words) {
      const client = await createClient({ url: redis.url }).connect();
      try {
        return await client.sendCommand(words);
      } finally {
        client.destroy();
      }
    },
  };
}
