import { expect, it, onTestFinished } from 'vitest';
import { openRedisBus } from '../../server/adapters/redis/bus.js';
import { openRedisLeases } from '../../server/adapters/redis/leases.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { describeWithRedisServer, startRedis, type RedisServer } from '../harness/redis-server.js';
import { until } from '../harness/until.js';
import { createRedisChatRecords } from '../../server/adapters/redis/chat-records.js';
import { ends, testBus, type OpenBus } from './bus.js';

/** How many connections Redis has taken so far. */
async function connectionsOf(redis: RedisServer): Promise<number> {
  const info = String(await redis.command('INFO', 'stats'));
  return Number(/total_connections_received:(\d+)/.exec(info)?.[1]);
}

describeWithRedisServer('a Redis that is there and refuses', () => {
  const REFUSALS = [
    ['has no memory left', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['has become a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ] as const;

  it.each(REFUSALS)(
    'that %s is not stormed with connections; what waited goes out once it takes it',
    async (_what, refuse, takeAgain) => {
      const redis = await startRedis();
      const common = { clock: systemClock, ids: systemIds, log: createLog('silent'), countMs: 200, blockMs: 200 };
      const open: OpenBus = (nodeId) => openRedisBus({ ...common, url: redis.url, nodeId });
      const [a, b] = [await testBus(open, 'a'), await testBus(open, 'b')];
      await redis.command(...refuse);
      a.bus.send('b', 'hello');
      const [before, since] = [await connectionsOf(redis), performance.now()];
      await until(() => performance.now() - since > 4_000, 'four seconds');
      // Four connections, and two of this test's own: at most half a second between two tries of each, on average.
      expect((await connectionsOf(redis)) - before).toBeLessThan(60);

      await redis.command(...takeAgain);
      await ends(b.came, 'a', 'hello');
    },
  );

  it('something else under the name of an inbox is taken out by its reader: what is sent then arrives', async () => {
    const redis = await startRedis();
    const common = { clock: systemClock, ids: systemIds, log: createLog('silent'), countMs: 200, blockMs: 200 };
    const open: OpenBus = (nodeId) => openRedisBus({ ...common, url: redis.url, nodeId });
    const [a, b] = [await testBus(open, 'a'), await testBus(open, 'b')];
    await redis.command('SET', 'turnstream:inbox:b', 'not ours');
    a.bus.send('b', 'hello');
    await ends(b.came, 'a', 'hello');
  });

  it('something else under the name of a record is taken out: the record is gone, others are written, and it can be restarted', async () => {
    const redis = await startRedis();
    const common = { clock: systemClock, ids: systemIds, log: createLog('silent'), url: redis.url };
    const records = await createRedisChatRecords({ ...common, maxEvents: 100, maxBytes: 10_000, ttlMs: 60_000 });
    onTestFinished(() => records.close());
    const event = (json: string) => ({ kind: 'event', attempt: null, json }) as const;
    const spoil = () => redis.command('SET', 'turnstream:record:spoilt', 'not ours');

    await spoil();
    const { record, left } = await records.open('spoilt', 1);
    expect(left).toEqual([]);
    const { record: other } = await records.open('other', 1);
    await redis.command('DEL', 'turnstream:record:spoilt');
    await spoil();
    for (const each of [record, other]) each.add(event('1'));
    expect(await records.commit()).toEqual({ lost: [], gone: ['spoilt'] });

    record.restart();
    record.add(event('2'));
    expect(await records.commit()).toEqual({ lost: [], gone: [] });
    expect((await records.open('spoilt', 2)).left).toEqual([event('2')]);
    expect((await records.open('other', 2)).left).toEqual([event('1')]);
  });

  it('something else under the name of a chat’s lease is told to who asks for it, and nobody else is disturbed', async () => {
    const redis = await startRedis();
    const common = { clock: systemClock, ids: systemIds, log: createLog('silent'), url: redis.url };
    const leases = await openRedisLeases(common);
    onTestFinished(() => leases.close());
    await redis.command('SET', 'turnstream:owner:spoilt', 'not ours');
    const unavailable = { code: 'storage_unavailable' };
    for (const ask of [() => leases.acquire('spoilt'), () => leases.ownerOf('spoilt')]) {
      const [answer, other] = await Promise.allSettled([ask(), leases.acquire('other')]);
      expect(answer).toMatchObject({ status: 'rejected', reason: unavailable });
      expect(other).toMatchObject({ status: 'fulfilled', value: leases.nodeId });
      expect(await leases.ownerOf('other')).toBe(leases.nodeId);
    }
    await redis.command('DEL', 'turnstream:owner:spoilt');
    expect(await leases.acquire('spoilt')).toBe(leases.nodeId);
  });
});
