import { expect, test } from 'vitest';
import type { Chat } from '../../client/index.js';
import { becomes } from '../harness/becomes.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { readyBut } from '../harness/readiness.js';
import { describeWithRedisServer, RedisServer } from '../harness/redis-server.js';
import { answerIn, clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { until } from '../harness/until.js';

const wordsOf = (count: number): string => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');
const shows = (chat: Chat, requestId: string, text: string, ms?: number) =>
  becomes(chat.view, () => answerIn(chat, requestId).includes(text), ms);

/** A chat that is made by way of the first of these nodes, which owns it, as a client of each of them follows it. */
async function followedAt(urls: readonly string[]): Promise<{ chatId: string; chats: Chat[] }> {
  const clients = urls.map((url) => clientOf(url));
  const { chat } = (await clients[0]?.call('chat:create', { assistantId: 'echo' })) ?? {};
  const chatId = chat?.chatId ?? '';
  return { chatId, chats: await Promise.all(clients.map((client) => opened(client, chatId))) };
}

describeWithRedisServer('LIF-4: nodes without Redis', { timeout: 120_000 }, () => {
  test('Redis is away for 5 s and comes back with nothing: owners go on, and others see all of it afterwards', async () => {
    const redis = await RedisServer.start();
    const nodes = new Nodes(redis.url);
    const servers = [await nodes.process(), await nodes.process(), await nodes.process()];
    const urls = servers.map(({ url }) => url);
    const own = [urls, [...urls.slice(1), ...urls.slice(0, 1)]];
    const followed = await Promise.all(own.map((each) => followedAt(each)));
    const text = wordsOf(120);
    const turns = await Promise.all(
      followed.map(async ({ chats: [first] }) => (await first?.start(text, { metadata: { delayMs: 100 } }))?.turn),
    );
    for (const [index, { chats }] of followed.entries())
      for (const chat of chats) await shows(chat, turns[index]?.requestId ?? '', 'w5 ');

    await redis.kill();
    const killedAt = performance.now();
    const seen = followed.map(({ chats: [first] }, index) => answerIn(first as Chat, turns[index]?.requestId ?? ''));
    for (const url of urls) await readyBut(url, 'log');
    // Connections of the owner see one word after another.
    for (const [index, { chats }] of followed.entries()) {
      const { length } = (seen[index] as string).split(' ');
      await shows(chats[0] as Chat, turns[index]?.requestId ?? '', `w${length + 20}`, 5_000);
    }
    expect(performance.now() - killedAt).toBeLessThan(4_500);
    await until(() => performance.now() - killedAt > 5_000, 'five seconds');
    await redis.start();

    for (const url of urls) await readyBut(url);
    for (const [index, { chatId, chats }] of followed.entries()) {
      for (const chat of chats) {
        const end = await endOf(chat, turns[index]?.requestId ?? '');
        expect(end.status).toBe('completed');
        expect(answerIn(chat, turns[index]?.requestId ?? '')).toBe(text);
      }
      // New commands work from any node.
      for (const chat of chats) {
        const { turn } = await chat.start('again');
        for (const each of chats) expect((await endOf(each, turn.requestId)).status).toBe('completed');
      }
      for (const url of urls) await expectConsistent(url, chatId);
      await expectSameViews(urls[0] as string, ...chats);
    }
    // And each chat is where it was: a command that arrives elsewhere does not take it.
    for (const server of servers) expect(server.output).not.toMatch(/taken over by another node/);
  });

  test('LIF-2: Redis and the owner die at once: the owner, started again on its disk, ends its turn with what its journal has', async () => {
    const redis = await RedisServer.start();
    const nodes = new Nodes(redis.url);
    const [a, b] = [await nodes.process(), await nodes.process()];
    const {
      chatId,
      chats: [ann, bob],
    } = await followedAt([a.url, b.url]);
    const { requestId } = (await (ann as Chat).start(wordsOf(200), { metadata: { delayMs: 50 } })).turn;
    await shows(bob as Chat, requestId, 'w20 ');
    await Promise.all([redis.kill(), a.kill()]);
    const seen = [answerIn(ann as Chat, requestId), answerIn(bob as Chat, requestId)];
    await redis.start();
    await a.start();
    for (const chat of [ann, bob] as Chat[]) {
      const end = await endOf(chat, requestId);
      expect(end).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
      for (const text of seen) expect(answerIn(chat, requestId).startsWith(text)).toBe(true);
      const { turn } = await chat.start('again');
      await endOf(chat, turn.requestId);
    }
    for (const { url } of [a, b]) await expectConsistent(url, chatId);
    await expectSameViews(b.url, ann as Chat, bob as Chat);
  });

  test('a node that is cut off from Redis: others take its chats, it overwrites nothing, and its clients go on by position', async () => {
    const redis = await RedisServer.start();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    const [b, c] = [await nodes.process(), await nodes.process()];
    const a = await nodes.process({ REDIS_URL: network.url.replace('http', 'redis') });
    const {
      chatId,
      chats: [ann, bob, cid],
    } = await followedAt([a.url, b.url, c.url]);
    const { requestId } = (await (ann as Chat).start(wordsOf(100), { metadata: { delayMs: 200 } })).turn;
    await shows(bob as Chat, requestId, 'w5 ');
    const cutAt = performance.now();
    network.isUp = false;
    network.cut();
    const end = await becomes(
      (bob as Chat).view,
      ({ turns }) => turns.get(requestId)?.status === 'interrupted',
      20_000,
    );
    expect(end.turns.get(requestId)).toMatchObject({ stopReason: 'crashed' });
    const text = answerIn(bob as Chat, requestId);
    await until(() => /taken over by another node/.test(a.output), 'it is known by the fence');
    // What its own connections saw meanwhile stands under another epoch: these offsets are given again, to other events.
    expect(answerIn(ann as Chat, requestId).length).toBeGreaterThan(text.length);
    const { turn } = await (cid as Chat).start(wordsOf(120), { metadata: { delayMs: 40 } });
    await endOf(bob as Chat, turn.requestId);
    await until(() => performance.now() - cutAt > 20_000, 'twenty seconds', 20_000);
    network.isUp = true;
    for (const chat of [ann, bob, cid] as Chat[]) {
      await endOf(chat, turn.requestId);
      expect(answerIn(chat, requestId)).toBe(text);
    }
    const { turn: last } = await (ann as Chat).start('after');
    for (const chat of [ann, bob, cid] as Chat[]) await endOf(chat, last.requestId);
    for (const { url } of [a, b, c]) await expectConsistent(url, chatId);
    await expectSameViews(b.url, ann as Chat, bob as Chat, cid as Chat);
  });
});
