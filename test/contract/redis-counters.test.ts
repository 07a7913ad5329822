import { RateLimiterRes } from 'rate-limiter-flexible';
import { expect, it, onTestFinished } from 'vitest';
import { openRedisCounters } from '../../server/adapters/redis/counters.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { until } from '../harness/until.js';

const SILENCE_MS = 500;
const BOUNDS = { name: 'words', points: 3, seconds: 60 };

/** A counter of one node. */
async function counterAt(url: string) {
  const common = { clock: systemClock, ids: systemIds, log: createLog('silent'), silenceMs: SILENCE_MS };
  const { counters, close } = await openRedisCounters({ ...common, url });
  onTestFinished(close);
  return counters(BOUNDS);
}

describeWithRedisServer('counters that all nodes share', () => {
  it('count together what is asked at any of them', async () => {
    const redis = await startRedis();
    const [one, other] = [await counterAt(redis.url), await counterAt(redis.url)];
    expect(await one.get('ann')).toBeNull();
    await one.consume('ann', 2);
    await other.consume('ann', 1);
    expect((await one.get('ann'))?.consumedPoints).toBe(3);
    await expect(other.consume('ann', 1)).rejects.toBeInstanceOf(RateLimiterRes);
    await other.consume('bob', 3);
    await one.penalty('bob', 1);
    expect((await other.get('bob'))?.consumedPoints).toBe(4);
  });

  it('LIF-4: while Redis says nothing, and keeps its connections, who comes waits for one silence, and nobody after that', async () => {
    const redis = await startRedis();
    const counter = await counterAt(redis.url);
    redis.pause();
    const pausedAt = performance.now();
    await Promise.all([counter.consume('ann', 1), counter.consume('bob', 1), counter.get('cid')]);
    expect(performance.now() - pausedAt).toBeLessThan(4 * SILENCE_MS);
    const askedAt = performance.now();
    for (const user of ['ann', 'ann', 'bob']) await counter.consume(user, 1);
    expect(performance.now() - askedAt).toBeLessThan(SILENCE_MS / 2);
    await expect(counter.consume('ann', 1)).rejects.toBeInstanceOf(RateLimiterRes);

    redis.resume();
    await until(async () => {
      await counter.consume('dan', 0);
      return (await redis.command('EXISTS', 'turnstream:rate:words:dan')) === 1;
    }, 'Redis counts again');
  });

  it('LIF-4: while Redis has no memory left each node counts for itself', async () => {
    const redis = await startRedis();
    const counter = await counterAt(redis.url);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await counter.consume('ann', 3);
    await expect(counter.consume('ann', 1)).rejects.toBeInstanceOf(RateLimiterRes);
  });
});
