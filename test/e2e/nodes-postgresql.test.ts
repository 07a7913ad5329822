import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canMakeCluster, makeCluster, type Cluster } from '../../tools/postgres-cluster.mjs';
import type { ChatSnapshot } from '../../client/index.js';
import { systemClock } from '../../server/clock.js';
import { Agent } from '../harness/agent.js';
import { becomes } from '../harness/becomes.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { Person } from '../harness/person.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { readyBut } from '../harness/readiness.js';
import { clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** Longer than PostgreSQL is away. */
const ANSWER_MS = 60_000;

describeOnRedis('LIF-4: nodes on a PostgreSQL that fails', () => {
  describe.skipIf(!canMakeCluster())('which crashes', { timeout: 90_000 }, () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await makeCluster();
      await cluster.start();
    }, 60_000);
    afterAll(() => cluster.remove());

    test.each([5, 20])(
      'TRN-7, TRN-6: it is away for %i s while turns end: their ends wait for it, and every node is whole again',
      async (seconds) => {
        const nodes = new Nodes();
        const env = { DATABASE_URL: postgresDatabase(cluster.url).url, COMMIT_RETRY_MS: '50000' };
        const servers = [await nodes.process(env), await nodes.process(env)];
        const urls = servers.map(({ url }) => url);
        const people = await Promise.all(urls.map((url) => new Person(url).open()));
        const agent = await new Agent(urls[1] as string, ['bot'], { concurrency: 10 }).join();
        const runs = [];
        for (const owner of people) {
          const chatId = await owner.createChat({ assistantId: 'bot' });
          for (const person of people) await person.follow(chatId);
          const { requestId } = (await owner.start(chatId, 'go')).turn;
          const run = await agent.run(requestId);
          await run.send('precious');
          runs.push({ chatId, requestId, run });
        }
        await cluster.stop('immediate');
        const stoppedAt = performance.now();
        const closing = runs.map(({ run }) => {
          const args = { ...run.frame, seq: ++run.seq, status: 'completed' };
          return agent.do('turn:close', args, ANSWER_MS);
        });
        for (const url of urls) await readyBut(url, 'store');
        await until(() => performance.now() - stoppedAt > seconds * 1_000, `${seconds} seconds`, 30_000);
        for (const { chatId, requestId } of runs)
          for (const { chats } of people) {
            expect(chats.get(chatId)?.text(requestId)).toBe('precious');
            expect(chats.get(chatId)?.ends(requestId)).toHaveLength(0);
          }
        await cluster.start();
        for (const closed of await Promise.all(closing))
          expect(closed).toMatchObject({ persisted: true, turn: { status: 'completed' } });
        for (const url of urls) await readyBut(url);
        for (const { chatId, requestId } of runs) {
          for (const person of people) {
            await person.ended(chatId, requestId);
            expect(person.chats.get(chatId)?.ends(requestId)).toHaveLength(1);
            const { turn } = await person.start(chatId, 'next');
            await (await agent.run(turn.requestId)).close();
            await person.ended(chatId, turn.requestId);
          }
          for (const url of urls) await expectConsistent(url, chatId, people);
        }
      },
    );
  });
});

describeOnRedis('LIF-4: a node whose clock is an hour ahead', { timeout: 60_000 }, () => {
  const HOUR_MS = 3_600_000;

  test('leases, order and takeover are as on any other', async () => {
    const nodes = new Nodes();
    const ahead = await nodes.start({ clock: { ...systemClock, now: () => systemClock.now() + HOUR_MS } });
    const killed = await nodes.process();
    const [ann, bob] = [await new Person(ahead.url).open(), await new Person(killed.url).open()];
    const [here, there] = [await ann.createChat(), await bob.createChat()];
    for (const chatId of [here, there]) for (const person of [ann, bob]) await person.follow(chatId);
    for (const chatId of [here, there])
      for (const starter of [ann, bob]) {
        const { turn } = await starter.start(chatId, 'one two');
        for (const person of [ann, bob]) await person.ended(chatId, turn.requestId);
      }
    for (const { url } of [ahead, killed]) {
      for (const chatId of [here, there]) {
        const sequences = (await expectConsistent(url, chatId, [ann, bob])).map(({ sequence }) => sequence);
        expect(sequences).toEqual([1, 2, 3, 4]);
      }
    }
    const { requestId } = (await bob.start(there, 'a b c d e f', { metadata: { delayMs: 200 } })).turn;
    await until(() => ann.chats.get(there)?.text(requestId).includes('b'), 'the second word');
    ann.close();
    // Whoever follows is told to look anew where an owner has died.
    const seen = await opened(clientOf(ahead.url), there);
    await killed.kill();
    // Not at once, as a clock that compares would have it, nor an hour late.
    const isOver = ({ turns }: ChatSnapshot): boolean => turns.get(requestId)?.stopReason === 'crashed';
    await becomes(seen.view, isOver, 20_000);
    const next = (await seen.start('and on')).turn;
    await endOf(seen, next.requestId);
    await expectSameViews(ahead.url, seen);
  });
});
