import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { openRedisBus, type RedisBusOptions } from '../../server/adapters/redis/bus.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { describeOnRedis, REDIS_URL } from '../harness/services.js';
import { until } from '../harness/until.js';
import { loseWhatIsSent, viaProxy } from './emptied-redis.js';
import { busContract, ends, numbered, testBus, type OpenBus } from './bus.js';

const at =
  (url: string, options: Partial<RedisBusOptions> = {}): OpenBus =>
  (nodeId) =>
    openRedisBus({
      url,
      nodeId,
      clock: systemClock,
      ids: systemIds,
      log: createLog('silent'),
      countMs: 200,
      blockMs: 200,
      ...options,
    });

describeOnRedis('on the machine’s Redis', () => {
  busContract('bus', () => {
    const prefix = `test-${systemIds.id()}:`;
    onTestFinished(async () => {
      const client = await createClient({ url: REDIS_URL }).connect();
      const keys = await client.keys(`${prefix}*`);
      if (keys.length > 0) await client.del(keys);
      client.destroy();
    });
    return at(REDIS_URL, { prefix });
  });
});

describeWithRedisServer('the bus while Redis has its troubles', () => {
  it('networks with different prefixes do not meet', async () => {
    const redis = await startRedis();
    const [one, other] = [at(redis.url, { prefix: 'one:' }), at(redis.url, { prefix: 'other:' })];
    const [a, b, elsewhere] = [await testBus(one, 'a'), await testBus(one, 'b'), await testBus(other, 'b')];
    a.bus.send('b', 'hello');
    await ends(b.came, 'a', 'hello');
    expect(elsewhere.came).toEqual({});
  });

  it('connections that are killed lose nothing, and bring nothing twice', async () => {
    const redis = await startRedis();
    const open = at(redis.url);
    const b = await testBus(open, 'b');
    const a = await testBus(open, 'a');
    const messages = numbered(3000);
    for (const [index, message] of messages.entries()) {
      a.bus.send('b', message);
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (index % 500 === 250) {
        await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        await until(() => !a.bus.isUp || !b.bus.isUp, 'the cut');
      }
    }
    await ends(b.came, 'a', messages.at(-1)!);
    expect(b.came['a']).toEqual(messages);
  });

  it('an answer that is lost brings no message twice', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const b = await testBus(at(redis.url), 'b');
    const a = await testBus(at(viaProxy(proxy)), 'a');
    a.bus.send('b', 'first');
    await ends(b.came, 'a', 'first');
    // The answer to an XADD is the id of the entry.
    proxy.fate = (answer) => (/\d+-\d+\r\n/.test(answer) ? 'cut' : 'pass');
    a.bus.send('b', 'second');
    await ends(b.came, 'a', 'second');
    await until(() => !a.bus.isUp, 'the cut');
    proxy.fate = () => 'pass';
    a.bus.send('b', 'third');
    await ends(b.came, 'a', 'third');
    expect(b.came['a']).toEqual(['first', 'second', 'third']);
  });

  it('a receiver whose network stood still goes on where it was', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const b = await testBus(at(viaProxy(proxy), { silenceMs: 300 }), 'b');
    const a = await testBus(at(redis.url), 'a');
    a.bus.send('b', 'before');
    await ends(b.came, 'a', 'before');
    proxy.isUp = false;
    proxy.freeze();
    for (const text of numbered(100)) a.bus.send('b', text);
    await until(() => !b.bus.isUp, 'the cut');
    proxy.isUp = true;
    await ends(b.came, 'a', 'message 99');
    expect(b.came['a']).toEqual(['before', ...numbered(100)]);
  });

  it('while Redis is away messages wait, and go out to the new one', async () => {
    const redis = await startRedis();
    const [a, b] = [await testBus(at(redis.url), 'a'), await testBus(at(redis.url), 'b')];
    a.bus.send('b', 'before');
    await ends(b.came, 'a', 'before');
    await redis.kill();
    for (const text of numbered(100)) a.bus.send('b', text);
    await until(() => !a.bus.isUp && !b.bus.isUp, 'the loss of Redis');
    await redis.start();
    await ends(b.came, 'a', 'message 99');
    expect(b.came['a']).toEqual(['before', ...numbered(100)]);
  });

  it('what waits is bounded: beyond it there is a gap, and what is newest', async () => {
    const redis = await startRedis();
    const [a, b] = [await testBus(at(redis.url, { maxWaitingChars: 1000 }), 'a'), await testBus(at(redis.url), 'b')];
    await redis.kill();
    await until(() => !a.bus.isUp, 'the loss of Redis');
    for (const text of numbered(1000)) a.bus.send('b', text);
    await redis.start();
    await ends(b.came, 'a', 'message 999');
    const [gap, ...newest] = b.came['a']!;
    expect(gap).toBeNull();
    expect(newest).toEqual(numbered(1000).slice(-newest.length));
    expect(newest.join('').length).toBeLessThanOrEqual(1000);
  });

  it('a Redis that was emptied is a gap, also where nothing more comes', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const b = await testBus(at(viaProxy(proxy)), 'b');
    const a = await testBus(at(redis.url, { countMs: 1000 }), 'a');
    a.bus.send('b', 'before');
    await ends(b.came, 'a', 'before');
    await loseWhatIsSent(redis, proxy, 'b', () => a.bus.send('b', 'lost'));
    await ends(b.came, 'a', null);
    a.bus.send('b', 'after');
    await ends(b.came, 'a', 'after');
    expect(b.came['a']).toEqual(['before', null, 'after']);
  });

  it('a Redis that was emptied of the count of what was sent, too, is a gap', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const b = await testBus(at(viaProxy(proxy)), 'b');
    const a = await testBus(at(redis.url, { countMs: 500 }), 'a');
    const isCounted = async (): Promise<boolean> => Number(await redis.command('XLEN', 'turnstream:inbox:b')) > 1;
    await loseWhatIsSent(redis, proxy, 'b', () => a.bus.send('b', 'lost'), isCounted);
    await ends(b.came, 'a', null);
    expect(b.came['a']).toEqual([null]);
  });

  it('a restart that loses what was not read is a gap, also where nothing more comes', async () => {
    const redis = await startRedis();
    const a = await testBus(at(redis.url, { countMs: 600_000 }), 'a');
    a.bus.send('b', 'lost');
    await until(async () => (await redis.command('XLEN', 'turnstream:inbox:b')) === 1, 'the message');
    await redis.kill();
    await redis.start();
    const b = await testBus(at(redis.url), 'b');
    await ends(b.came, 'a', null);
    expect(b.came).toEqual({ a: [null] });
  });

  it('a node that is no more is written nothing, also where a new connection is made', async () => {
    const redis = await startRedis();
    const [a, b] = [await testBus(at(redis.url), 'a'), await testBus(at(redis.url), 'b')];
    const c = await testBus(at(redis.url), 'c');
    for (const to of ['b', 'c']) a.bus.send(to, 'hello');
    await Promise.all([ends(b.came, 'a', 'hello'), ends(c.came, 'a', 'hello')]);
    await b.bus.close();
    a.bus.forget('b');
    await redis.command('DEL', 'turnstream:inbox:b');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until(() => !a.bus.isUp, 'the cut');
    await until(() => a.bus.isUp, 'another connection');
    // Each that it knows is told how many messages there were before anything else.
    a.bus.send('c', 'again');
    await ends(c.came, 'a', 'again');
    expect(await redis.command('EXISTS', 'turnstream:inbox:b')).toBe(0);
  });

  it('an inbox that nobody reads is bounded and goes; one that is read is empty', async () => {
    const redis = await startRedis();
    const a = await testBus(at(redis.url, { maxInboxEntries: 100, keepMs: 5000 }), 'a');
    const key = 'turnstream:inbox:b';
    for (const text of numbered(2000)) {
      a.bus.send('b', text);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Redis drops whole nodes of a stream: 100 entries, or 4 KiB.
    await until(async () => ((await redis.command('XLEN', key)) as number) >= 100, 'the messages');
    expect(await redis.command('XLEN', key)).toBeLessThan(300);
    expect(await redis.command('PTTL', key)).toBeGreaterThan(0);
    const b = await testBus(at(redis.url), 'b');
    await ends(b.came, 'a', 'message 1999');
    expect(b.came['a']![0]).toBeNull();
    expect(b.came['a']!.slice(1)).toEqual(numbered(2000).slice(1 - b.came['a']!.length));
    await until(async () => (await redis.command('XLEN', key)) === 0, 'an empty inbox');
  });
});
