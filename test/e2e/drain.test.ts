import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const LONG = 'word '.repeat(2000);
const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);

describe('LIF-1: SIGTERM', { timeout: 60_000 }, () => {
  test('new turns are refused, repeated starts are answered, readyz fails; a running turn may end in time; exit code 0', async () => {
    const server = await new ServerProcess({ DRAIN_MS: '20000' }).start();
    const agent = await new Agent(server.url, ['bot']).join();
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'bot' });
    const view = await person.follow(chatId);
    const requestId = uid('r');
    await person.start(chatId, 'go', { requestId });
    const run = await agent.run(requestId);
    const failed = await person.start(chatId, 'x', {
      assistantId: 'echo',
      onBusy: 'parallel',
      metadata: { delayMs: 60_000 },
    });
    await until(() => view.messages.some(({ state }) => state === 'open'), 'the echo to begin');
    await person.do('turn:stop', { requestId: failed.turn.requestId });
    const ending = server.signal('SIGTERM');
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 503, 'readyz fails');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    for (const onBusy of ['enqueue', 'parallel', 'interrupt']) {
      expect(await person.refused('turn:start', { chatId, input: 'no', onBusy })).toMatchObject({
        code: 'draining',
        retryable: true,
      });
    }
    expect(
      (await person.refused('turn:start', { chatId: uid('c'), input: 'no', createChat: true, assistantId: 'echo' }))
        .code,
    ).toBe('draining');
    expect((await person.refused('turn:resume', { requestId: failed.turn.requestId })).code).toBe('draining');
    expect((await agent.refused('turn:open', { chatId, assistantId: 'bot' })).code).toBe('draining');
    expect(await person.start(chatId, 'go', { requestId })).toMatchObject({
      duplicate: true,
      turn: { status: 'running' },
    });
    await run.send('in time');
    expect(await run.close()).toMatchObject({ persisted: true });
    expect((await person.ended(chatId, requestId)).turn.status).toBe('completed');
    expect(await ending).toBe(0);
    for (const peer of [person, agent]) {
      await until(() => peer.disconnectReason, 'the end of the connection');
      expect(peer.goaways).toEqual([expect.objectContaining({ code: 'shutdown' })]);
    }
    expect(person.goaways[0]).toMatchObject({ reconnect: true, retryAfterMs: expect.any(Number) as number });
    // Not all in the same moment.
    expect(person.goaways[0]?.retryAfterMs).not.toBe(agent.goaways[0]?.retryAfterMs);
    await server.start();
    expect(contents(await expectConsistent(server.url, chatId))).toEqual(['go', 'x', '', 'in time']);
  });

  test('C24: twenty streams with three viewers: exit code 0 in time, everything seen is stored, interrupted by shutdown', async () => {
    const server = await new ServerProcess({ DRAIN_MS: '200' }).start();
    const viewers = await Promise.all([1, 2, 3].map(() => new Person(server.url).open()));
    const [person] = viewers as [Person];
    const chats = await Promise.all(Array.from({ length: 20 }, () => person.createChat()));
    for (const viewer of viewers) for (const chatId of chats) await viewer.follow(chatId);
    const turns = await Promise.all(
      chats.map(async (chatId) => (await person.start(chatId, LONG, { metadata: { delayMs: 5 } })).turn.requestId),
    );
    await until(
      () =>
        turns.every((requestId, index) => (person.chats.get(chats[index] as string)?.text(requestId).length ?? 0) > 20),
      'words everywhere',
    );
    const began = performance.now();
    expect(await server.signal('SIGTERM')).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    await Promise.all(viewers.map((viewer) => until(() => viewer.disconnectReason, 'the end')));
    await server.start();
    for (const [index, chatId] of chats.entries()) {
      const requestId = turns[index] as string;
      const stored = (await httpHistory(server.url, chatId))[1]?.props['content'] as string;
      for (const viewer of viewers) {
        expect(viewer.goaways).toEqual([expect.objectContaining({ code: 'shutdown' })]);
        expect(viewer.chats.get(chatId)?.ends(requestId)).toEqual([
          expect.objectContaining({
            persisted: true,
            turn: expect.objectContaining({ status: 'interrupted', stopReason: 'shutdown' }) as object,
          }),
        ]);
        expect(stored).toBe(viewer.chats.get(chatId)?.text(requestId));
      }
    }
  });

  test('queued turns stay queued, and run after the restart, in order', async () => {
    const server = await new ServerProcess({ DRAIN_MS: '50' }).start();
    const person = await new Person(server.url).open();
    const chatId = await person.createChat();
    await person.follow(chatId);
    const first = (await person.start(chatId, LONG)).turn.requestId;
    const queued: string[] = [];
    for (const input of ['one', 'two', 'three'])
      queued.push((await person.start(chatId, input, { metadata: { delayMs: 0 } })).turn.requestId);
    expect(await server.signal('SIGTERM')).toBe(0);
    expect((await person.ended(chatId, first)).turn.stopReason).toBe('shutdown');
    for (const requestId of queued) expect(person.chats.get(chatId)?.ends(requestId)).toEqual([]);
    await server.start();
    await person.open();
    await person.follow(chatId, { fresh: true });
    await until(async () => (await person.turn(queued[2] as string)).status === 'completed', 'all three answered');
    const order = await storeBeside(server.dataDir).rows(
      "SELECT request_id FROM agent_turn WHERE status = 'completed' ORDER BY started_at, id",
    );
    expect(order.map((row) => row['request_id'])).toEqual(queued);
    const inputs = (await expectConsistent(server.url, chatId, [person])).filter(({ role }) => role === 'user');
    expect(contents(inputs)).toEqual([LONG, 'one', 'two', 'three']);
  });

  test('a second signal ends at once', async () => {
    const server = await new ServerProcess({ DRAIN_MS: '60000' }).start();
    const person = await new Person(server.url).open();
    const chatId = await person.createChat();
    const view = await person.follow(chatId);
    const { turn } = await person.start(chatId, LONG);
    await until(() => view.text(turn.requestId).length > 20, 'some words');
    const ending = server.signal('SIGTERM');
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 503, 'draining');
    // What a terminal repeats of the first signal within 300 ms is not a second one.
    const ended = { yet: false };
    void ending.then(() => (ended.yet = true));
    await until(() => {
      if (!ended.yet) process.kill(server.pid, 'SIGINT');
      return ended.yet;
    }, 'the end');
    expect(await ending).toBe(1);
    const seen = view.text(turn.requestId);
    await server.start();
    expect(await (await new Person(server.url).open()).turn(turn.requestId)).toMatchObject({
      status: 'interrupted',
      stopReason: 'crashed',
    });
    expect(((await httpHistory(server.url, chatId))[1]?.props['content'] as string).startsWith(seen)).toBe(true);
  });

  test('a turn that waits for its agent while draining does not begin: it stays queued, and runs after the restart', async () => {
    const { server, person, chatId, view } = await scene({ env: { DRAIN_MS: '60000' } });
    const { turn: running } = await person.start(chatId, LONG, { assistantId: 'echo', onBusy: 'parallel' });
    const { turn: waiting } = await person.start(chatId, 'x', { assistantId: 'late' });
    const draining = server.drain();
    const late = await new Agent(server.url, ['late']).join();
    await person.do('turn:stop', { requestId: running.requestId });
    await draining;
    expect(late.runs).toEqual([]);
    expect(
      view.events.some((event) => event.type === 'turn.started' && event.turn.requestId === waiting.requestId),
    ).toBe(false);
    const next = await startServer({ dataDir: server.dataDir });
    const again = await new Agent(next.url, ['late']).join();
    await (await again.run(waiting.requestId)).close();
  });

  test('a turn that an agent was opening when the draining began does not begin: nothing is taken, it ends as shutdown', async () => {
    const here = await scene({ env: { DRAIN_MS: '60000' } });
    const { server, person, agent, chatId, view } = here;
    const running = await here.turn();
    const lock = await storeBeside(server.dataDir).lock();
    const opening = agent.openTurn({ chatId });
    // Asked behind it and answered from what is stored: the opening waits for its write 1.
    await agent.refused('turn:push', { requestId: uid('r'), attempt: 1, stackId: 'none', seq: 1, ops: [] });
    const draining = server.drain();
    await lock.release();
    const opened = await opening;
    expect((await agent.refused('turn:push', { ...opened.frame, seq: 1, ops: [] })).code).toBe('turn_ended');
    const { turn } = await person.ended(chatId, opened.requestId);
    expect(turn).toMatchObject({ status: 'interrupted', stopReason: 'shutdown', startedAt: null });
    expect(view.events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
    await running.close();
    await draining;
    const next = await startServer({ dataDir: server.dataDir });
    expect(await (await new Person(next.url).open()).turn(opened.requestId)).toEqual(turn);
  });

  test('a start that waits for its write 1 is answered before the goodbye, also where no turn runs; it runs after the restart', async () => {
    const { server, person, chatId } = await scene({ env: { DRAIN_MS: '0' } });
    const other = await new Person(server.url).open();
    const lock = await storeBeside(server.dataDir).lock();
    const starting = person.start(chatId, 'go', { assistantId: 'echo' });
    // Asked behind it and answered from what is stored: the start waits for its write 1.
    await other.refused('turn:get', { requestId: uid('r') });
    const draining = server.drain();
    await lock.release();
    const { turn } = await starting;
    expect(turn.status).toBe('queued');
    await draining;
    const next = await startServer({ dataDir: server.dataDir });
    const again = await new Person(next.url).open();
    await until(async () => (await again.turn(turn.requestId)).status === 'completed', 'the answer');
  });

  test('a turn whose agent did not take it, and that waits for another, ends as shutdown too', async () => {
    const { server, person, agent, chatId } = await scene({ env: { DRAIN_MS: '100', AGENT_WAIT_MS: '60000' } });
    agent.accepts = false;
    const { turn } = await person.start(chatId, 'x');
    await (await agent.run(turn.requestId)).aborted();
    expect((await person.turn(turn.requestId)).status).toBe('running');
    await server.drain();
    expect((await person.ended(chatId, turn.requestId)).turn).toMatchObject({
      status: 'interrupted',
      stopReason: 'shutdown',
    });
    expect(await storeBeside(server.dataDir).rows('SELECT stop_reason FROM agent_turn')).toEqual([
      { stop_reason: 'shutdown' },
    ]);
  });
});
