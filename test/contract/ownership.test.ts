import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import type { PrismaStore } from '../../server/adapters/prisma/prisma-store.js';
import { createRedisChatRecords } from '../../server/adapters/redis/chat-records.js';
import { openRedisLeases } from '../../server/adapters/redis/leases.js';
import { systemClock } from '../../server/clock.js';
import { Ownership, type OwnershipUse } from '../../server/cluster/ownership.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { freezableClock } from '../harness/freezable-clock.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { POSTGRES_URL } from '../harness/services.js';
import { until } from '../harness/until.js';
import { HEARTBEAT_MS, LIFE_MS } from './leases.js';

const describeWithBoth = POSTGRES_URL === '' ? describe.skip : describeWithRedisServer;

let database: ReturnType<typeof postgresDatabase>;
let store: PrismaStore;

/** What nodes own who share this Redis, and the database of this file. */
async function nodes() {
  const { url } = await startRedis();
  return async (use: Partial<OwnershipUse> = {}) => {
    const clock = freezableClock();
    const redis = { url, clock, ids: systemIds, log: createLog('silent') };
    const leases = await openRedisLeases({ ...redis, heartbeatMs: HEARTBEAT_MS, lifeMs: LIFE_MS });
    const records = await createRedisChatRecords({ ...redis, maxEvents: 100, maxBytes: 10_000, ttlMs: 60_000 });
    onTestFinished(async () => {
      records.close();
      await leases.close();
    });
    const lost: string[] = [];
    const deaths: (readonly string[])[] = [];
    leases.onDeath((_nodeId, chatIds) => deaths.push(chatIds));
    const ownership = new Ownership({ leases, records, clock, log: redis.log });
    ownership.use({
      store,
      isNeeded: () => false,
      taken: () => Promise.resolve(),
      takenFrom: () => undefined,
      lost: (chatId) => lost.push(chatId),
      ...use,
    });
    return { ownership, leases, records, lost, deaths, nodeId: leases.nodeId, freeze: () => clock.freeze() };
  };
}

describeWithBoth('which chats a node owns', () => {
  beforeAll(async () => {
    database = postgresDatabase();
    store = await openPrismaStore({ url: database.url, clock: systemClock, ids: systemIds });
  });
  afterAll(async () => {
    await store.close();
    await database.remove();
  });
  const aChatId = (): string => systemIds.id();

  it('LIF-4: a chat that is let go is not held from that call on, and is another’s once what was told of it is safe', async () => {
    const join = await nodes();
    const [a, b] = [await join(), await join()];
    const chatId = aChatId();
    await a.ownership.ownerOf(chatId);
    let isSafe = (): void => undefined;
    const gone = a.ownership.letGo(chatId, true, new Promise((resolve) => (isSafe = resolve)));
    expect(a.ownership.owns(chatId)).toBe(false);
    expect(() => a.ownership.mustHold(chatId)).toThrow('moved');
    expect(await b.ownership.ownerOf(chatId)).toBe(a.nodeId);
    isSafe();
    await gone;
    expect(await b.ownership.ownerOf(chatId)).toBe(b.nodeId);
    expect(b.ownership.holding(chatId)?.wasWhole).toBe(true);
  });

  it('LIF-4: one that is asked for again while it is let go stays with the node', async () => {
    const a = await (await nodes())();
    const chatId = aChatId();
    await a.ownership.ownerOf(chatId);
    const before = a.ownership.of(chatId);
    const gone = a.ownership.letGo(chatId, true);
    const again = a.ownership.ownerOf(chatId);
    await Promise.all([gone, again]);
    expect(a.ownership.of(chatId)).toBe(Number(before) + 1);
    expect(await a.leases.ownerOf(chatId)).toBe(a.nodeId);
  });

  it('TRN-6, LIF-4: what a dead node has left and who takes it cannot end is told of again', async () => {
    const join = await nodes();
    const dead = await join();
    const c = await join();
    const b = await join({ taken: () => Promise.reject(new Error('the store is away')) });
    const chatId = aChatId();
    await dead.ownership.ownerOf(chatId);
    dead.freeze();
    await until(() => c.deaths.flat().includes(chatId), 'the death');
    await expect(b.ownership.ownerOf(chatId)).rejects.toThrow('the store is away');
    expect(b.ownership.holding(chatId)).toBeNull();
    c.deaths.length = 0;
    await until(() => c.deaths.flat().includes(chatId), 'the death, again');
  });

  it('LIF-4: a check of what was held before does not lose what the node has taken again since', async () => {
    const a = await (await nodes())();
    const chatId = aChatId();
    await a.ownership.ownerOf(chatId);
    const before = a.ownership.holding(chatId);
    // Something of it is still to be written.
    before?.record.add({ kind: 'event', attempt: null, json: '{}' });
    a.ownership.giveUp(chatId);
    await a.ownership.ownerOf(chatId);
    const { lost } = await a.records.commit();
    expect(lost).toEqual([{ chatId, fence: before?.fence }]);
    for (const { chatId, fence } of lost) a.ownership.lose(chatId, fence);
    expect(a.ownership.owns(chatId)).toBe(true);
    expect(a.lost).toEqual([]);
    a.ownership.lose(chatId, a.ownership.of(chatId));
    expect(a.lost).toEqual([chatId]);
  });

  it('LIF-4: a node that is asked for a chat which all believe to be its own, and which it has lost, takes it up again', async () => {
    const join = await nodes();
    const [a, b] = [await join(), await join()];
    const chatId = aChatId();
    await a.ownership.ownerOf(chatId);
    a.ownership.lose(chatId);
    await a.ownership.mustOwn(chatId);
    expect(a.ownership.owns(chatId)).toBe(true);
    for (const other of [chatId, aChatId()]) await expect(b.ownership.mustOwn(other)).rejects.toThrow('moved');
    expect(b.ownership.owns(chatId)).toBe(false);
  });
});
