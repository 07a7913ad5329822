import { expect, test } from 'vitest';
import type { Chat, ChatClient, ChatSnapshot } from '../../client/index.js';
import { Agent } from '../harness/agent.js';
import { becomes } from '../harness/becomes.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { readyBut } from '../harness/readiness.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { answerIn, clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { until } from '../harness/until.js';

const wordsOf = (count: number): string => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');
const shows = (chat: Chat, requestId: string, text: string, ms?: number) =>
  becomes(chat.view, () => answerIn(chat, requestId).includes(text), ms);

const epochOf = (chat: Chat): string | undefined => chat.view.getSnapshot().position?.epoch;

/**
 * A chat that the first of these nodes owns, with a turn that streams, as a client of each of them follows it: all have seen
 * some words.
 */
async function streaming(urls: readonly string[], text: string, delayMs: number) {
  const clients = urls.map((url) => clientOf(url));
  const owner = clients[0] as ChatClient;
  const { chatId } = (await owner.call('chat:create', { assistantId: 'echo' })).chat;
  const chats = await Promise.all(clients.map((client) => opened(client, chatId)));
  const [ann, bob = ann, cid = bob] = chats as [Chat, ...Chat[]];
  const { requestId } = (await ann.start(text, { metadata: { delayMs } })).turn;
  for (const chat of chats) await shows(chat, requestId, 'w5 ');
  return { chatId, chats, ann, bob, cid, requestId };
}

/** A new turn that each of them starts, and that all see. */
async function turnsOf(chats: readonly Chat[]): Promise<void> {
  for (const chat of chats) {
    const { requestId } = (await chat.start('again')).turn;
    for (const each of chats) expect((await endOf(each, requestId)).status).toBe('completed');
  }
}

describeWithRedisServer('LIF-4: nodes without Redis', { timeout: 120_000 }, () => {
  test('Redis is away for 5 s and comes back with nothing: owners go on, and others see all of it afterwards', async () => {
    const redis = await startRedis();
    const nodes = new Nodes(redis.url);
    const a = await nodes.process();
    const servers = [a, await nodes.process(), await nodes.process()];
    const urls = servers.map(({ url }) => url);
    const text = wordsOf(120);
    const owned = [await streaming(urls, text, 100), await streaming([...urls].reverse(), text, 100)];

    await redis.kill();
    const killedAt = performance.now();
    const seen = owned.map(({ ann, requestId }) => answerIn(ann, requestId).split(' ').length);
    for (const url of urls) await readyBut(url, 'log');
    // Connections of the owner see one word after another.
    for (const [index, { ann, requestId }] of owned.entries())
      await shows(ann, requestId, `w${(seen[index] ?? 0) + 20}`, 5_000);
    expect(performance.now() - killedAt).toBeLessThan(4_500);
    await until(() => performance.now() - killedAt > 5_000, 'five seconds');
    await redis.start();

    for (const url of urls) await readyBut(url);
    for (const { chatId, chats, requestId } of owned) {
      for (const chat of chats) {
        expect((await endOf(chat, requestId)).status).toBe('completed');
        expect(answerIn(chat, requestId)).toBe(text);
      }
      await turnsOf(chats);
      for (const url of urls) await expectConsistent(url, chatId);
      await expectSameViews(a.url, ...chats);
    }
    // And each chat is where it was: a command that arrives elsewhere does not take it.
    for (const server of servers) expect(server.output).not.toMatch(/taken over by another node/);
  });

  test('LIF-2: Redis and the owner die at once: the owner, started again on its disk, ends its turn with what its journal has', async () => {
    const redis = await startRedis();
    const nodes = new Nodes(redis.url);
    const [a, b] = [await nodes.process(), await nodes.process()];
    const { chatId, chats, ann, bob, requestId } = await streaming([a.url, b.url], wordsOf(200), 50);
    await Promise.all([redis.kill(), a.kill()]);
    const seen = [answerIn(ann, requestId), answerIn(bob, requestId)];
    await redis.start();
    await a.start();
    for (const chat of chats) {
      expect(await endOf(chat, requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
      for (const text of seen) expect(answerIn(chat, requestId).startsWith(text)).toBe(true);
    }
    await turnsOf(chats);
    for (const { url } of [a, b]) await expectConsistent(url, chatId);
    await expectSameViews(b.url, ann, bob);
  });

  test('LIF-2: a node that was cut off from Redis dies: its journal goes further than the record that Redis still has', async () => {
    const redis = await startRedis();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    const a = await nodes.process({ REDIS_URL: network.url.replace('http', 'redis') });
    const { chatId, ann, requestId } = await streaming([a.url], wordsOf(200), 50);
    network.isUp = false;
    network.cut();
    await readyBut(a.url, 'log');
    const word = `w${answerIn(ann, requestId).split(' ').length + 10} `;
    await shows(ann, requestId, word);
    await a.kill();
    const seen = answerIn(ann, requestId);
    network.isUp = true;
    await a.start();
    expect(await endOf(ann, requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect(answerIn(ann, requestId).startsWith(seen)).toBe(true);
    await expectConsistent(a.url, chatId);
  });

  test('AGT-4: an agent that comes back at a node without Redis is not told what it holds elsewhere: that is lost, not held for ever', async () => {
    const redis = await startRedis();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    // Longer than an attach waits for the answers of other nodes.
    const env = { AGENT_GRACE_MS: '6000' };
    const [a, b] = [await nodes.process(env), await nodes.process(env)];
    const c = await nodes.process({ ...env, REDIS_URL: network.url.replace('http', 'redis') });
    const client = clientOf(a.url);
    const { chatId } = (await client.call('chat:create', { assistantId: 'bot' })).chat;
    const chat = await opened(client, chatId);
    const agent = await new Agent(b.url, ['bot']).join();
    const { requestId } = (await chat.start('go')).turn;
    const run = await agent.run(requestId);
    await run.send('one');
    network.isUp = false;
    network.cut();
    await readyBut(c.url, 'log');
    agent.drop();
    const back = await new Agent(c.url, ['bot'], { agentId: agent.agentId }).open();
    expect((await back.attach()).assigned).toEqual([]);
    network.isUp = true;
    await becomes(chat.view, ({ turns }) => turns.get(requestId)?.stopReason === 'agent_lost', 20_000);
    expect(answerIn(chat, requestId)).toBe('one');
  });

  test('a node that is cut off from Redis: others take its chats, it overwrites nothing, and its clients go on by position', async () => {
    const redis = await startRedis();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    const [b, c] = [await nodes.process(), await nodes.process()];
    const a = await nodes.process({ REDIS_URL: network.url.replace('http', 'redis') });
    const urls = [a.url, b.url, c.url];
    const { chatId, chats, ann, bob, cid, requestId } = await streaming(urls, wordsOf(100), 200);
    const cutAt = performance.now();
    network.isUp = false;
    network.cut();
    const isOver = ({ turns }: ChatSnapshot): boolean => turns.get(requestId)?.stopReason === 'crashed';
    await becomes(bob.view, isOver, 20_000);
    const text = answerIn(bob, requestId);
    await until(() => /taken over by another node/.test(a.output), 'it is known by the fence');
    // What its own connections saw meanwhile stands under another epoch: these offsets are given again, to other events.
    expect(answerIn(ann, requestId).length).toBeGreaterThan(text.length);
    expect(epochOf(ann)).not.toBe(epochOf(bob));
    const { turn } = await cid.start(wordsOf(120), { metadata: { delayMs: 40 } });
    await endOf(bob, turn.requestId);
    await until(() => performance.now() - cutAt > 20_000, 'twenty seconds', 20_000);
    network.isUp = true;
    for (const chat of chats) {
      await endOf(chat, turn.requestId);
      expect(answerIn(chat, requestId)).toBe(text);
    }
    await turnsOf(chats);
    for (const url of urls) await expectConsistent(url, chatId);
    await expectSameViews(b.url, ...chats);
  });

  test('a chat that was taken and not read yet when Redis goes away: what is told of it then stands under another epoch', async () => {
    const redis = await startRedis();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    const a = await nodes.start({ env: { REDIS_URL: network.url.replace('http', 'redis') } });
    const b = await nodes.start();
    const before = clientOf(b.url);
    const { chatId } = (await before.call('chat:create', { assistantId: 'echo' })).chat;
    const chat = await opened(before, chatId);
    await turnsOf([chat]);
    const epoch = epochOf(chat);
    before.close();
    await b.drain();

    const client = clientOf(a.url);
    const { ann: other } = await streaming([a.url], wordsOf(400), 50);
    const recorded = epochOf(other);
    const owns = () => client.call('chat:get', { chatId });
    await owns();
    network.isUp = false;
    network.cut();
    // Asked for all the while, so that it stays this node's.
    await until(async () => (await owns()) && epochOf(other) !== recorded, 'the record is away');
    const after = await opened(client, chatId);
    expect(epochOf(after)).not.toBe(epoch);
    await turnsOf([after]);
    expect(epochOf(after)).not.toBe(epoch);
  });
});
