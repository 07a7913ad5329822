import { describe, expect, test } from 'vitest';
import type { Result } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

/** Starts turns one after the other and gives their ids. */
async function starts({ person, chatId }: Scene, count: number, more: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const { turn } = await person.start(chatId, `q${index}`, more);
    ids.push(turn.requestId);
  }
  return ids;
}

/** The turns in the order in which they began. */
const begun = ({ view }: Scene): string[] =>
  view.events.flatMap((event) => (event.type === 'turn.started' ? [event.turn.requestId] : []));

/** Completes turns as they come, until these have ended. */
async function finish(here: Scene, ids: readonly string[]): Promise<void> {
  for (const requestId of ids) {
    await (await here.agent.run(requestId)).close();
    await here.person.ended(here.chatId, requestId);
  }
}

describe('TRN-3: onBusy', () => {
  test('enqueue: first in first out, one at a time', async () => {
    const here = await scene();
    const ids = await starts(here, 5);
    await finish(here, ids);
    expect(begun(here)).toEqual(ids);
    const order = here.view.events.flatMap((event) =>
      event.type === 'turn.started' || event.type === 'turn.ended' ? [event.type] : [],
    );
    expect(order).toEqual(ids.flatMap(() => ['turn.started', 'turn.ended']));
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('enqueue: sixteen may wait behind the one that runs; the next is queue_full until one has ended', async () => {
    const here = await scene();
    const ids = await starts(here, 17);
    const error = await here.person.refused('turn:start', { chatId: here.chatId, input: 'too many' });
    expect(error).toMatchObject({ code: 'queue_full', retryable: true, details: { limit: 'maxQueuedTurns', max: 16 } });
    await finish(here, ids.slice(0, 1));
    const next = await starts(here, 1);
    expect((await here.person.refused('turn:start', { chatId: here.chatId, input: 'x' })).code).toBe('queue_full');
    await finish(here, [...ids.slice(1), ...next]);
    expect(begun(here)).toEqual([...ids, ...next]);
  });

  test('interrupt: where the chat waits for an agent and the queue is full, queue_full names the limit', async () => {
    const { person } = await scene({ env: { MAX_QUEUED_TURNS: '1' } });
    const chatId = await person.createChat({ assistantId: 'nobody' });
    for (const input of ['at the head', 'behind it']) await person.start(chatId, input);
    const details = { limit: 'maxQueuedTurns', max: 1 };
    for (const onBusy of ['enqueue', 'interrupt'])
      expect(await person.refused('turn:start', { chatId, input: 'x', onBusy })).toMatchObject({
        code: 'queue_full',
        details,
      });
  });

  test('MAX_QUEUED_TURNS=0: a free chat takes a turn, a busy one none', async () => {
    const here = await scene({ env: { MAX_QUEUED_TURNS: '0' } });
    const [first] = await starts(here, 1);
    const error = await here.person.refused('turn:start', { chatId: here.chatId, input: 'x' });
    expect(error).toMatchObject({ code: 'queue_full', details: { limit: 'maxQueuedTurns', max: 0 } });
    await finish(here, [first as string]);
    await finish(here, await starts(here, 1));
  });

  test('reject: turn_busy names the turn that runs, or the one that waits', async () => {
    const here = await scene();
    const { agent, person, chatId } = here;
    const run = await here.turn({ onBusy: 'reject' });
    const error = await person.refused('turn:start', { chatId, input: 'x', onBusy: 'reject' });
    expect(error).toMatchObject({ code: 'turn_busy', details: { activeRequestId: run.requestId } });
    await run.close();
    await person.ended(chatId, run.requestId);
    agent.close();
    await until(() => agent.disconnectReason, 'the agent gone');
    const [waiting] = await starts(here, 1);
    expect((await person.refused('turn:start', { chatId, input: 'x', onBusy: 'reject' })).details).toEqual({
      activeRequestId: waiting,
    });
  });

  test('reject is not refused for background turns', async () => {
    const here = await scene();
    await here.turn({ onBusy: 'parallel' });
    await here.turn({ onBusy: 'reject' });
  });

  test('interrupt: the running one ends as superseded, then this one runs, before those queued', async () => {
    const here = await scene();
    const run = await here.turn();
    await run.send('so far');
    const queued = await starts(here, 2);
    const [urgent] = await starts(here, 1, { onBusy: 'interrupt' });
    const { turn } = await here.person.ended(here.chatId, run.requestId);
    expect(turn).toMatchObject({ status: 'interrupted', stopReason: 'superseded' });
    expect((await run.aborted()).reason).toBe('superseded');
    await finish(here, [urgent as string, ...queued]);
    expect(begun(here)).toEqual([run.requestId, urgent, ...queued]);
    // Write 1 first: its input stands before the other's end.
    const types = here.view.events.flatMap((event) => {
      if (event.type === 'turn.queued' && event.turn.requestId === urgent) return ['queued'];
      return event.type === 'turn.ended' && event.turn.requestId === run.requestId ? ['ended'] : [];
    });
    expect(types).toEqual(['queued', 'ended']);
    const history = await expectConsistent(here.url, here.chatId, [here.person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'so far', 'q0', 'q1', 'q0']);
  });

  test('interrupt: several at once each end the one before; every turn comes to exactly one end', async () => {
    const here = await scene();
    const run = await here.turn();
    const others = await Promise.all(Array.from({ length: 8 }, () => new Person(here.url).open()));
    const answers = await Promise.all(
      others.map((person, index) => person.start(here.chatId, `i${index}`, { onBusy: 'interrupt' })),
    );
    const ids = [run.requestId, ...answers.map(({ turn }) => turn.requestId)];
    const unfinished = (): string[] => ids.filter((requestId) => here.view.ends(requestId).length === 0);
    while (unfinished().length > 0) {
      const next = await until(
        () => here.agent.runs.find(({ requestId }) => unfinished().includes(requestId)),
        'the next run',
      );
      await next.close().catch(() => undefined);
      await here.person.ended(here.chatId, next.requestId);
    }
    for (const requestId of ids) expect(here.view.ends(requestId)).toHaveLength(1);
    expect(new Set(begun(here)).size).toBe(begun(here).length);
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('interrupt with a full queue: the one that ends makes room', async () => {
    const here = await scene({ env: { MAX_QUEUED_TURNS: '1' } });
    const run = await here.turn();
    const [queued] = await starts(here, 1);
    const [urgent] = await starts(here, 1, { onBusy: 'interrupt' });
    await here.person.ended(here.chatId, run.requestId);
    await finish(here, [urgent as string, queued as string]);
  });

  test('parallel: runs beside the foreground and makes no chat busy; at most sixteen per chat', async () => {
    const here = await scene();
    const front = await here.turn();
    const ids = await starts(here, 16, { onBusy: 'parallel' });
    const runs = await Promise.all(ids.map((requestId) => here.agent.run(requestId)));
    expect(runs.every(({ assignment }) => assignment?.turn.background)).toBe(true);
    expect(
      await here.person.refused('turn:start', { chatId: here.chatId, input: 'x', onBusy: 'parallel' }),
    ).toMatchObject({
      code: 'queue_full',
      details: { limit: 'parallel', max: 16 },
    });
    await Promise.all(runs.map((run) => run.send(run.requestId)));
    await front.close();
    await here.person.ended(here.chatId, front.requestId);
    // The chat is free, whatever runs in the background.
    const next = await here.turn({ onBusy: 'reject' });
    await runs[0]?.close();
    await here.person.ended(here.chatId, ids[0] as string);
    const [one] = await starts(here, 1, { onBusy: 'parallel' });
    await Promise.all([
      next.close(),
      ...runs.slice(1).map((run) => run.close()),
      here.agent.run(one as string).then((run) => run.close()),
    ]);
    for (const requestId of [next.requestId, ...ids, one as string]) await here.person.ended(here.chatId, requestId);
    for (const requestId of ids) expect(here.view.text(requestId)).toBe(requestId);
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('C42: stopping the running turn leaves the queue going, and the inputs of all stay', async () => {
    const here = await scene();
    const run = await here.turn();
    const queued = await starts(here, 2);
    await here.person.do('turn:stop', { chatId: here.chatId });
    expect((await here.person.ended(here.chatId, run.requestId)).turn.stopReason).toBe('stopped');
    await finish(here, queued);
    const history = await expectConsistent(here.url, here.chatId, [here.person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'q0', 'q1']);
    for (const requestId of queued) expect(here.view.ends(requestId)[0]?.turn.status).toBe('completed');
  });
});

describe('TRN-4: events come in the order in which the assistant made them', () => {
  test('three messages and two turns at once, woven: every view tells one story', async () => {
    const here = await scene();
    const runs = [await here.turn(), await here.turn({ onBusy: 'parallel' })];
    const texts = new Map<string, string>();
    for (const run of runs) for (let index = 0; index < 3; index++) texts.set(await run.send(''), '');
    const ids = [...texts.keys()];
    await Promise.all(
      Array.from({ length: 40 }, (_, round) =>
        runs.map((run, of) =>
          run.push(
            ...ids.slice(of * 3, of * 3 + 3).map((messageId) => {
              texts.set(messageId, `${texts.get(messageId)}${round} `);
              return { op: 'append' as const, messageId, text: `${round} ` };
            }),
          ),
        ),
      ).flat(),
    );
    for (const run of runs) await run.close();
    for (const run of runs) await here.person.ended(here.chatId, run.requestId);
    const history = await expectConsistent(here.url, here.chatId, [here.person]);
    for (const [messageId, text] of texts)
      expect(history.find((message) => message.messageId === messageId)?.props['content']).toBe(text);
  });
});

describe('TRN-10: waiting for an agent', () => {
  const away = async (env: Record<string, string> = {}) => {
    const here = await scene({ env: { AGENT_WAIT_MS: '150', ...env } });
    here.agent.close();
    await until(() => here.agent.disconnectReason, 'the agent gone');
    return here;
  };

  test('nobody serves it: failed with agent_unavailable after agentWaitMs; the input stays, and it can be resumed', async () => {
    const here = await away();
    const { person, chatId } = here;
    const [requestId, second] = await starts(here, 2);
    const { turn } = await person.ended(chatId, requestId as string);
    expect(turn).toMatchObject({ status: 'failed', stopReason: 'agent_unavailable', startedAt: null });
    expect(turn.error?.code).toBe('agent_unavailable');
    expect((await person.ended(chatId, second as string)).turn.stopReason).toBe('agent_unavailable');
    expect(begun(here)).toEqual([]);
    const history = await expectConsistent(here.url, chatId, [person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['q0', 'q1']);
    const agent = await new Agent(here.url, ['bot']).join();
    await person.do('turn:resume', { requestId });
    const run = await agent.run(requestId as string, 2);
    expect(run.assignment?.input.map(({ props }) => props['content'])).toEqual(['q0']);
    await run.close();
    expect((await person.ended(chatId, requestId as string, 2)).turn.status).toBe('completed');
  });

  test('an agent that comes in time takes it', async () => {
    const here = await away({ AGENT_WAIT_MS: '20000' });
    const [requestId] = await starts(here, 1);
    const agent = await new Agent(here.url, ['bot']).join();
    await (await agent.run(requestId as string)).close();
    await here.person.ended(here.chatId, requestId as string);
  });

  test('agents that are attached but full mean waiting, longer than agentWaitMs', async () => {
    const here = await away();
    const { person, chatId } = here;
    const agent = await new Agent(here.url, ['bot'], { concurrency: 1 }).join();
    const [first] = await starts(here, 1, { onBusy: 'parallel' });
    const run = await agent.run(first as string);
    const [waiting] = await starts(here, 1);
    // Another one, that nobody serves, meets its end meanwhile.
    const lonely = uid('r');
    await person.start(chatId, 'x', { requestId: lonely, onBusy: 'parallel', assistantId: 'nobody' });
    await person.ended(chatId, lonely);
    expect((await person.turn(waiting as string)).status).toBe('queued');
    await run.close();
    await (await agent.run(waiting as string)).close();
    expect((await person.ended(chatId, waiting as string)).turn.status).toBe('completed');
  });

  test('the time begins anew when the last full agent leaves', async () => {
    const here = await away({ AGENT_GRACE_MS: '50' });
    const { person, chatId } = here;
    const agent = await new Agent(here.url, ['bot'], { concurrency: 1 }).join();
    const [first, waiting] = await starts(here, 2, { onBusy: 'parallel' });
    await agent.run(first as string);
    agent.drop();
    expect((await person.ended(chatId, first as string)).turn.stopReason).toBe('agent_lost');
    expect((await person.ended(chatId, waiting as string)).turn.stopReason).toBe('agent_unavailable');
  });

  test('hello tells which assistants there are', async () => {
    const here = await away();
    // Other nodes hear of it a little later that the agent has gone.
    const listed = await until(async () => {
      const { assistants = [] } = (await new Person(here.url).open()).hello ?? {};
      return assistants.some(({ assistantId, available }) => assistantId === 'bot' && !available) ? assistants : null;
    }, 'a hello that tells so');
    expect(listed).toContainEqual(expect.objectContaining({ assistantId: 'echo', available: true }));
    expect(listed).toContainEqual(expect.objectContaining({ assistantId: 'bot', available: false }));
    const { turns } = await here.person.do<Result<'turn:list'>>('turn:list', { chatId: here.chatId });
    expect(turns).toEqual([]);
  });
});
