import { expect, it, onTestFinished } from 'vitest';
import { openRedisBus } from '../../server/adapters/redis/bus.js';
import { systemClock } from '../../server/clock.js';
import { Calls } from '../../server/cluster/calls.js';
import { isUndone } from '../../server/cluster/not-here.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { Deferred } from '../../server/session/deferred.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { loseWhatIsSent, viaProxy } from './emptied-redis.js';

async function callsOf(nodeId: string, url: string): Promise<Calls> {
  const log = createLog('silent');
  const timing = { countMs: 200, blockMs: 200 };
  const bus = await openRedisBus({ url, nodeId, clock: systemClock, ids: systemIds, log, ...timing });
  onTestFinished(() => bus.close());
  return new Calls(bus, log);
}

const refusal = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => Promise.reject(new Error(`was answered: ${String(value)}`)),
    (error: unknown) => error,
  );

describeWithRedisServer('questions between nodes while Redis has its troubles', () => {
  it('LIF-4: a question that is lost is known to be undone; those that were heard are answered', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const [a, b] = [await callsOf('a', redis.url), await callsOf('b', viaProxy(proxy))];
    const heard: string[] = [];
    const mayAnswer = new Deferred<void>();
    const isHeard = new Deferred<void>();
    b.serve<string>('say', async (_from, word) => {
      heard.push(word);
      isHeard.resolve();
      await mayAnswer.promise;
      return word;
    });
    const first = a.ask('b', 'say', 'first');
    await isHeard.promise;
    let lost: Promise<unknown> = Promise.resolve();
    await loseWhatIsSent(redis, proxy, 'b', () => {
      lost = refusal(a.ask('b', 'say', 'lost'));
    });
    expect(isUndone(await lost)).toBe(true);
    mayAnswer.resolve();
    expect(await first).toBe('first');
    expect(await a.ask('b', 'say', 'after')).toBe('after');
    expect(heard).toEqual(['first', 'after']);
  });

  it('LIF-4: a question whose answer is lost fails, and may have been carried out', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const [a, b] = [await callsOf('a', viaProxy(proxy)), await callsOf('b', redis.url)];
    const [isHeard, mayAnswer] = [new Deferred<void>(), new Deferred<void>()];
    b.serve('say', async () => {
      isHeard.resolve();
      await mayAnswer.promise;
      return 'done';
    });
    const asked = refusal(a.ask('b', 'say', {}));
    await isHeard.promise;
    await loseWhatIsSent(redis, proxy, 'a', () => mayAnswer.resolve());
    const error = await asked;
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect(isUndone(error)).toBe(false);
  });
});
