import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { LEASE_SCRIPTS } from '../../server/adapters/redis/lease-scripts.js';
import { openRedisLeases } from '../../server/adapters/redis/leases.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { describeOnRedis, REDIS_URL } from '../harness/services.js';
import { until } from '../harness/until.js';
import { elapsed, HEARTBEAT_MS, isToldOf, leasesContract, LIFE_MS, testNode, type Join } from './leases.js';

const SILENCE_MS = 500;

const joinAt =
  (url: string, prefix?: string): Join =>
  ({ clock }) =>
    openRedisLeases({
      url,
      clock,
      ids: systemIds,
      log: createLog('silent'),
      heartbeatMs: HEARTBEAT_MS,
      lifeMs: LIFE_MS,
      silenceMs: SILENCE_MS,
      ...(prefix === undefined ? {} : { prefix }),
    });

describeOnRedis('on the machine’s Redis', () => {
  leasesContract('leases', async () => {
    const prefix = `test-${systemIds.id()}:`;
    onTestFinished(async () => {
      const client = await createClient({ url: REDIS_URL }).connect();
      const keys = await client.keys(`${prefix}*`);
      if (keys.length > 0) await client.del(keys);
      client.destroy();
    });
    return joinAt(REDIS_URL, prefix);
  });
});

describeWithRedisServer('leases while Redis has its troubles', () => {
  const unavailable = { code: 'storage_unavailable' };

  it('clusters with different prefixes do not meet', async () => {
    const redis = await startRedis();
    const one = await testNode(joinAt(redis.url, 'one:'));
    const other = await testNode(joinAt(redis.url, 'other:'));
    await one.acquire('chat');
    expect(await other.acquire('chat')).toBe(other.nodeId);
    expect(await one.nodes()).toHaveLength(1);
  });

  it('LIF-4: away, calls fail soon; back and empty, it is told again who owns what before anybody else can have it', async () => {
    const redis = await startRedis();
    const [a, b] = [await testNode(joinAt(redis.url)), await testNode(joinAt(redis.url))];
    const chatIds = Array.from({ length: 1500 }, (_, index) => `chat-${index}`);
    await Promise.all(chatIds.map((chatId) => a.acquire(chatId)));
    await redis.kill();
    const askedAt = performance.now();
    await expect(b.acquire('chat-0')).rejects.toMatchObject(unavailable);
    await expect(b.nodes()).rejects.toMatchObject(unavailable);
    expect(performance.now() - askedAt).toBeLessThan(2 * SILENCE_MS + 500);
    expect(a.standing).toBe('held');
    await until(() => a.standings.includes('unsure'), 'doubt');

    await redis.start();
    // From the first moment on, and until it is answered.
    await until(() => b.nodes().catch(() => null), 'it is back');
    // What an earlier life has left waits for nobody.
    expect(await until(() => b.acquire('left', true).catch(() => null), 'its own')).toBe(b.nodeId);
    await expect(b.acquire('new')).rejects.toMatchObject(unavailable);
    const answer = await until(() => b.acquire('chat-1499').catch(() => null), 'an answer');
    expect(answer).toBe(a.nodeId);
    await until(() => a.standing === 'held', 'certainty');
    expect(a.standings).toEqual(['unsure', 'held']);
    for (const chatId of ['chat-0', 'chat-999']) expect(await b.ownerOf(chatId)).toBe(a.nodeId);
    expect(await until(() => b.acquire('new').catch(() => null), 'a new chat')).toBe(b.nodeId);
    expect([...a.taken, ...a.deaths, ...b.deaths]).toEqual([]);
  });

  it('LIF-4: back with an older state of its data, it is told what has changed since', async () => {
    const redis = await startRedis();
    const [a, b] = [await testNode(joinAt(redis.url)), await testNode(joinAt(redis.url))];
    const gone = await testNode(joinAt(redis.url));
    await gone.acquire('moved');
    await a.acquire('released');
    await redis.command('SAVE');
    await gone.close();
    await a.acquire('moved');
    await a.acquire('new');
    await a.release('released');
    await elapsed(LIFE_MS);
    await redis.kill();
    await redis.start();
    expect(await until(() => b.acquire('new').catch(() => null), 'an answer')).toBe(a.nodeId);
    expect(await until(() => b.acquire('released').catch(() => null), 'an answer')).toBe(b.nodeId);
    // The one that has gone is in the saved state, and is found dead; what it had there is another's by now.
    await isToldOf(b, gone);
    expect(await b.ownerOf('moved')).toBe(a.nodeId);
    expect(a.taken).toEqual([]);
  });

  it('LIF-4: a Redis that was paused for longer than a node may be silent makes nobody dead', async () => {
    const redis = await startRedis();
    const all = [
      await testNode(joinAt(redis.url)),
      await testNode(joinAt(redis.url)),
      await testNode(joinAt(redis.url)),
    ];
    for (const [index, node] of all.entries()) await node.acquire(`chat-${index}`);
    await elapsed(LIFE_MS);
    redis.pause();
    await expect(all[0]!.acquire('x')).rejects.toMatchObject(unavailable);
    await until(() => all.every(({ standing }) => standing === 'unsure'), 'doubt');
    redis.resume();
    await until(() => all.every(({ standing }) => standing === 'held'), 'certainty');
    // Whoever was to be declared dead would be by now.
    await elapsed(LIFE_MS + 2 * HEARTBEAT_MS);
    for (const [index, node] of all.entries()) {
      expect(node.standings).toEqual(['unsure', 'held']);
      expect(node.deaths).toEqual([]);
      expect(await all[0]!.ownerOf(`chat-${index}`)).toBe(node.nodeId);
    }
  });

  it('LIF-4: a beat that waited for Redis to come back blames nobody for the time of its absence', async () => {
    const redis = await startRedis();
    const client = await createClient({ url: redis.url, scripts: LEASE_SCRIPTS }).connect();
    onTestFinished(() => client.destroy());
    /** What a node's beat says, so many milliseconds after its last one, of another that was last heard 9.5 s ago. */
    const beatAfter = async (gapMs: number) => {
      const [seconds = '', micros = ''] = await client.time();
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      await client.flushAll();
      const known = now - gapMs;
      await client.zAdd('nodes', [
        { score: known, value: 'judge' },
        { score: now - 9500, value: 'silent' },
      ]);
      return client.beat('', 'judge', known, 3000, 9000, 18_000);
    };
    // Redis was away for 4 s: both may have been heard in time before it, and nobody could be heard since.
    expect(await beatAfter(7000)).toMatchObject({ state: 'held', dead: [] });
    expect(await beatAfter(3000)).toMatchObject({ state: 'held', dead: [{ nodeId: 'silent' }] });
  });

  it('LIF-4: emptied under way, it is told at the next beat; what others got meanwhile is theirs', async () => {
    const redis = await startRedis();
    const [a, b] = [await testNode(joinAt(redis.url)), await testNode(joinAt(redis.url))];
    for (const chatId of ['x', 'y']) await a.acquire(chatId);
    a.freeze();
    await redis.command('FLUSHALL');
    await expect(b.acquire('x')).rejects.toMatchObject(unavailable);
    const refusedAt = performance.now();
    // A node that is silent for longer than all have the time to speak.
    expect(await until(() => b.acquire('x').catch(() => null), 'the chat')).toBe(b.nodeId);
    expect(performance.now() - refusedAt).toBeGreaterThan(HEARTBEAT_MS);
    a.thaw();
    await until(() => a.taken.length > 0, 'the loss of one chat');
    expect(a.taken).toEqual(['x']);
    expect(await b.ownerOf('y')).toBe(a.nodeId);
    expect(await a.acquire('x')).toBe(b.nodeId);
    expect(a.standing).toBe('held');
  });

  it('LIF-4: a cut of the connection loses nothing', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const a = await testNode(joinAt(`redis://${new URL(proxy.url).host}`));
    const b = await testNode(joinAt(redis.url));
    await a.acquire('x');
    await a.acquire('released');
    proxy.isUp = false;
    proxy.cut();
    await expect(a.release('released')).rejects.toMatchObject(unavailable);
    proxy.isUp = true;
    expect(await until(() => a.acquire('x').catch(() => null), 'the connection')).toBe(a.nodeId);
    expect(await b.acquire('x')).toBe(a.nodeId);
    expect(await b.acquire('released')).toBe(b.nodeId);
    expect(a.standings).toEqual([]);
  });

  it('LIF-4: a node whose network stands still for too long has lost', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const a = await testNode(joinAt(`redis://${new URL(proxy.url).host}`));
    const b = await testNode(joinAt(redis.url));
    await a.acquire('x');
    proxy.isUp = false;
    proxy.freeze();
    await isToldOf(b, a, 'x');
    expect(a.standing).toBe('unsure');
    proxy.isUp = true;
    await until(() => a.standing === 'lost', 'the loss');
  });

  it('LIF-4: a chat of a dead node is given to who takes it, even where the first answer was lost', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const dead = await testNode(joinAt(redis.url));
    const b = await testNode(joinAt(`redis://${new URL(proxy.url).host}`));
    await dead.acquire('x');
    dead.freeze();
    await isToldOf(b, dead, 'x');
    proxy.fate = (answer) => (answer.includes('owned') ? 'cut' : 'pass');
    await expect(b.acquire('x')).rejects.toMatchObject(unavailable);
    expect(await redis.command('HGET', 'turnstream:owner:x', 'node')).toBe(b.nodeId);
    proxy.fate = () => 'pass';
    expect(await until(() => b.acquire('x').catch(() => null), 'an answer')).toBe(b.nodeId);
  });
});
