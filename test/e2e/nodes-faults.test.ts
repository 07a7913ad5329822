import { expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { becomes } from '../harness/becomes.js';
import { Nodes } from '../harness/nodes.js';
import { answerIn, clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** LIF-4: a node that dies loses its leases within 15 s. */
const TAKEOVER_MS = 20_000;

describeOnRedis('nodes that die', () => {
  /** A chat that the first of two nodes owns, as a client of each follows it. */
  async function scene(assistantId: string) {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.process()];
    const [ann, bob] = [clientOf(a.url), clientOf(b.url)];
    const { chatId } = (await ann.call('chat:create', { assistantId })).chat;
    return { a, b, near: await opened(ann, chatId), far: await opened(bob, chatId) };
  }

  const crashedIn = (chat: Awaited<ReturnType<typeof scene>>['far'], requestId: string) =>
    becomes(chat.view, ({ turns }) => turns.get(requestId)?.stopReason === 'crashed', TAKEOVER_MS);

  test('LIF-4, SUB-4: kill -9 of the owner: another ends its turn with every word that was seen, and followers go on', async () => {
    const { a, b, near, far } = await scene('bot');
    const agent = await new Agent(b.url, ['bot']).join();
    const { requestId } = (await near.start('go')).turn;
    const run = await agent.run(requestId);
    const messageId = await run.send('');
    for (let n = 0; n < 50; n++) await run.append(messageId, `${n} `);
    const words = Array.from({ length: 50 }, (_, n) => `${n} `).join('');
    await becomes(near.view, () => answerIn(near, requestId) === words);
    const queued = (await far.start('next')).turn;
    await a.kill();
    const { turns } = await crashedIn(far, requestId);
    expect(turns.get(requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect(answerIn(far, requestId)).toBe(words);
    // What waited behind it has its time now, at the new owner.
    const next = await agent.run(queued.requestId);
    await next.send('done');
    await next.close();
    await endOf(far, queued.requestId);
    await expectSameViews(b.url, far);
  }, 60_000);

  test('LIF-4: a node that was paused past its lease and wakes up overwrites nothing', async () => {
    const { a, b, near, far } = await scene('echo');
    const text = 'one two three four five six seven eight';
    const { requestId } = (await near.start(text, { metadata: { delayMs: 200 } })).turn;
    await becomes(far.view, () => answerIn(far, requestId).includes('two'));
    process.kill(a.pid, 'SIGSTOP');
    await crashedIn(far, requestId);
    const seen = answerIn(far, requestId);
    process.kill(a.pid, 'SIGCONT');
    await until(() => /given this one up/.test(a.output), 'the word of the node that was given up', 10_000);
    const { turn } = await far.start('again');
    await endOf(far, turn.requestId);
    expect(answerIn(far, requestId)).toBe(seen);
    await endOf(near, turn.requestId);
    await expectSameViews(b.url, near, far);
  }, 60_000);
});
