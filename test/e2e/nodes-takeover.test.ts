import { expect, test } from 'vitest';
import type { Result } from '../../protocol/index.js';
import { Random } from '../fuzz/random.js';
import { expectConsistent } from '../harness/consistent.js';
import { Agent } from '../harness/agent.js';
import { gauge } from '../harness/metric.js';
import { Nodes } from '../harness/nodes.js';
import { uid } from '../harness/peer.js';
import { PostgresBeside } from '../harness/postgres-beside.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { becomes } from '../harness/becomes.js';
import { answerIn, clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** LIF-4: a node that dies loses its leases within 15 s. */
const TAKEOVER_MS = 30_000;

describeOnRedis('LIF-4: a chat whose owner has died', { timeout: 120_000 }, () => {
  test('DAT-4, SUB-4: what the owner had stored and could tell nobody is seen by all who follow elsewhere', async () => {
    const nodes = new Nodes();
    const address = new URL(nodes.env['DATABASE_URL'] as string);
    const network = await Proxy.to(address.href, asBytes);
    address.host = new URL(network.url).host;
    const b = await nodes.process();
    const a = await nodes.process({ DATABASE_URL: address.href });
    const [ann, bob] = [clientOf(a.url), clientOf(b.url)];
    const { chatId } = (await ann.call('chat:create', { assistantId: 'echo' })).chat;
    const near = await opened(ann, chatId);
    const seen = await opened(bob, chatId);
    // So that there is a log to go on with.
    const first = (await near.start('first')).turn;
    for (const chat of [near, seen]) await endOf(chat, first.requestId);

    // The database has stored it, and the owner does not know.
    network.fate = (said) => (said.includes('COMMIT') ? 'hold' : 'pass');
    const requestId = uid('request');
    void near.start('a word', { requestId }).catch(() => undefined);
    await network.holds(1);
    await a.kill();

    await becomes(
      seen.view,
      ({ messages }) => messages.some((message) => message.requestId === requestId),
      TAKEOVER_MS,
    );
    // It had not been told to anybody that it runs: it does so now, once.
    await endOf(seen, requestId);
    const late = await opened(clientOf(b.url), chatId);
    await expectSameViews(b.url, seen, late);
  });

  test('LIF-2, TRN-4: taking it up fails half-way, and the next try takes up all of it', async () => {
    const nodes = new Nodes();
    const b = await nodes.process({ COMMIT_RETRY_MS: '500' });
    const a = await nodes.process();
    const [ann, bob] = [clientOf(a.url), clientOf(b.url)];
    const { chatId } = (await ann.call('chat:create', { assistantId: 'bot' })).chat;
    const [near, seen] = [await opened(ann, chatId), await opened(bob, chatId)];
    const agent = await new Agent(b.url, ['bot']).join();
    const { requestId } = (await near.start('go')).turn;
    const run = await agent.run(requestId);
    await run.send('a word');
    const next = (await near.start('and then')).turn;
    await becomes(seen.view, ({ turns }) => turns.has(next.requestId) && answerIn(seen, requestId) === 'a word');

    // The turn that runs can be ended, and its end not be stored; the input of the one that waits cannot be read.
    const store = new PostgresBeside(nodes.env['DATABASE_URL'] as string);
    const hidden = await store.hide('agent_message');
    await a.kill();
    await until(() => /could not be taken up yet/.test(b.output), 'a try that fails', TAKEOVER_MS);
    await hidden.release();
    expect(await becomesEnded(seen, requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect(answerIn(seen, requestId)).toBe('a word');
    const again = await agent.run(next.requestId);
    await again.send('another');
    await again.close();
    expect((await endOf(seen, next.requestId)).status).toBe('completed');
    await expectConsistent(b.url, chatId);
    const late = await opened(clientOf(b.url), chatId);
    await expectSameViews(b.url, seen, late);
  });

  test('LIF-3: who has left while the chat was being taken over is followed for by nobody', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.process()];
    const [ann, bob, cid] = [clientOf(a.url), clientOf(b.url), clientOf(b.url)];
    const { chatId } = (await ann.call('chat:create', { assistantId: 'echo' })).chat;
    for (const client of [ann, bob, cid]) await opened(client, chatId);
    const store = new PostgresBeside(nodes.env['DATABASE_URL'] as string);
    const waitingForLock =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    const lock = await store.lock();
    await a.kill();
    await until(async () => (await store.rows(waitingForLock)).length > 0, 'the chat is being taken', TAKEOVER_MS);
    bob.close();
    await until(async () => (await gauge(b.url, 'connections{namespace="people"}')) === 1, 'one connection');
    await lock.release();
    await until(async () => (await gauge(b.url, 'subscriptions')) === 1, 'one following: that of the other');
    cid.close();
    await until(async () => (await gauge(b.url, 'subscriptions')) === 0, 'no following');
  });
});

/** How many owners are killed, each while a chat of its own streams. */
const KILLS = 4;

describeOnRedis('LIF-2, LIF-4, TRN-6: the owner of a streaming turn is killed', { timeout: 240_000 }, () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

  test(`at random moments, FUZZ_SEED=${seed}: one end, every word that was seen, and the next turn runs`, async () => {
    const random = Random.of(seed, 'kills');
    const nodes = new Nodes();
    const door = await nodes.process();
    const scenes = Array.from({ length: KILLS }, async (_, index) => {
      const afterMs = random.between(0, 1_500);
      const owner = await nodes.process();
      const assistantId = `bot-${index}`;
      const agent = await new Agent(door.url, [assistantId]).join();
      const near = clientOf(owner.url);
      const { chatId } = (await near.call('chat:create', { assistantId })).chat;
      // Whoever is asked first for a chat that nobody has owns it.
      const chats = [await opened(near, chatId), await opened(clientOf(door.url), chatId)] as const;
      const [, far] = chats;
      const { requestId } = (await far.start('go')).turn;
      const run = await agent.run(requestId);
      const messageId = await run.send('');
      let isKilled = false;
      const streaming = (async () => {
        for (let word = 0; !isKilled; word++) await run.append(messageId, `${word} `);
      })().catch(() => undefined);
      await until(() => answerIn(far, requestId).length > 0, 'a word');
      const from = performance.now();
      await until(() => performance.now() - from >= afterMs, 'the moment');
      await owner.kill();
      isKilled = true;
      const seen = chats.map((chat) => answerIn(chat, requestId));
      expect(await becomesEnded(far, requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
      for (const text of seen) expect(answerIn(far, requestId).startsWith(text), `after ${afterMs} ms`).toBe(true);
      const words = answerIn(far, requestId).trim().split(' ');
      expect(words).toEqual(words.map((_, word) => String(word)));
      await streaming;
      const next = (await far.start('again')).turn;
      await (await agent.run(next.requestId)).close();
      await endOf(far, next.requestId);
      const history = await expectConsistent(door.url, chatId);
      expect(history.filter(({ role }) => role === 'user')).toHaveLength(2);
      const { turns } = await clientOf(door.url).call('turn:list', { chatId });
      expect(turns satisfies Result<'turn:list'>['turns']).toHaveLength(2);
    });
    await Promise.all(scenes);
  });
});

const becomesEnded = async (chat: Awaited<ReturnType<typeof opened>>, requestId: string) => {
  const isOver = () => chat.view.getSnapshot().turns.get(requestId)?.stopReason === 'crashed';
  await until(isOver, `the end of ${requestId}`, TAKEOVER_MS);
  return chat.view.getSnapshot().turns.get(requestId);
};
