import { expect, test } from 'vitest';
import { expectConsistent } from '../harness/consistent.js';
import { Agent } from '../harness/agent.js';
import { Nodes } from '../harness/nodes.js';
import { Person } from '../harness/person.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** LIF-4: a node that dies loses its leases within 15 s. */
const TAKEOVER_MS = 20_000;

describeOnRedis('nodes that die', () => {
  test('LIF-4: kill -9 of the owner: another ends its turn with every word that was seen, and followers go on without a hole', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.process()];
    const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
    const agent = await new Agent(b.url, ['bot']).join();
    const chatId = await ann.createChat({ assistantId: 'bot' });
    await ann.follow(chatId);
    await bob.follow(chatId);
    const { requestId } = (await ann.start(chatId, 'go')).turn;
    const run = await agent.run(requestId);
    const messageId = await run.send('');
    for (let n = 0; n < 50; n++) await run.append(messageId, `${n} `);
    const words = Array.from({ length: 50 }, (_, n) => `${n} `).join('');
    await until(() => ann.chats.get(chatId)?.text(requestId) === words, 'the words');
    const queued = (await bob.start(chatId, 'next')).turn;
    await a.kill();
    const end = await bob.ended(chatId, requestId, 1, TAKEOVER_MS);
    expect(end.turn).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect(bob.chats.get(chatId)?.text(requestId)).toBe(words);
    // What waited behind it has its time now, at the new owner.
    const next = await agent.run(queued.requestId);
    await next.send('done');
    await next.close();
    await bob.ended(chatId, queued.requestId);
    await expectConsistent(b.url, chatId, [bob]);
  }, 60_000);

  test('LIF-4: a node that was paused past its lease and wakes up overwrites nothing', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.process()];
    const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
    const chatId = await ann.createChat();
    await bob.follow(chatId);
    const { requestId } = (
      await ann.start(chatId, 'one two three four five six seven eight', { metadata: { delayMs: 200 } })
    ).turn;
    await until(() => bob.chats.get(chatId)?.text(requestId).includes('two'), 'the second word');
    process.kill(a.pid, 'SIGSTOP');
    const end = await bob.ended(chatId, requestId, 1, TAKEOVER_MS);
    expect(end.turn).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    const seen = bob.chats.get(chatId)?.text(requestId);
    process.kill(a.pid, 'SIGCONT');
    await until(() => /given this one up/.test(a.output), 'the word of the node that was given up', 10_000);
    const { turn } = await bob.start(chatId, 'again');
    await bob.ended(chatId, turn.requestId);
    expect(bob.chats.get(chatId)?.text(requestId)).toBe(seen);
    await expectConsistent(b.url, chatId, [bob]);
  }, 60_000);
});
