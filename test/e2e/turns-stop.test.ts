import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { httpHistory, expectConsistent } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** Holds on for ever, and will not hear of a signal. */
function deaf() {
  const seen = { aborted: false, late: [] as string[] };
  let go = (): void => undefined;
  const opened = new Promise<void>((resolve) => (go = resolve));
  const assistant = defineAssistant({
    assistantId: 'deaf',
    async run(ctx) {
      ctx.abortSignal.addEventListener('abort', () => (seen.aborted = true));
      const messageId = await ctx.send('before');
      await opened;
      for (const work of [() => ctx.append(messageId, ' after'), () => ctx.send('after'), () => ctx.signal('after')]) {
        await work().catch((error: { code?: string }) => seen.late.push(error.code ?? 'none'));
      }
    },
  });
  return { assistant, seen, go: () => go() };
}

describe('TRN-5: turn:stop', () => {
  test('C05: what was read until then is stored, no more and no less, also after a restart', async () => {
    const server = await startServer({ env: { COALESCE_MS: '0' } });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat();
    const view = await person.follow(chatId);
    const { turn } = await person.start(chatId, 'word '.repeat(5000), { metadata: { delayMs: 1 } });
    await until(() => view.text(turn.requestId).length > 250, 'fifty words');
    const stopped = await person.do('turn:stop', { chatId, requestId: turn.requestId });
    expect(stopped.turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    await person.ended(chatId, turn.requestId);
    const read = view.text(turn.requestId);
    expect(view.messages.every(({ state }) => state === 'closed')).toBe(true);
    const history = await expectConsistent(server.url, chatId, [person]);
    expect(history[1]?.props['content']).toBe(read);
    expect(view.ends(turn.requestId)).toHaveLength(1);
    await server.close();
    const again = await startServer({ dataDir: server.dataDir });
    expect(await httpHistory(again.url, chatId)).toEqual(history);
  });

  test('C14: from a client that came later, over its own socket or over HTTP', async () => {
    const { url, person, chatId, turn } = await scene();
    const one = await turn();
    const starter = person;
    const late = await new Person(url).open();
    await late.follow(chatId);
    starter.close();
    await late.do('turn:stop', { requestId: one.requestId });
    expect((await one.aborted()).reason).toBe('stopped');
    await late.ended(chatId, one.requestId);
    const { turn: two } = await late.start(chatId, 'again');
    const response = await fetch(`${url}/v1/turns/${two.requestId}/stop`, { method: 'POST' });
    expect(response.status).toBe(200);
    expect((await late.ended(chatId, two.requestId)).turn.stopReason).toBe('stopped');
  });

  test('C12: from ten clients at once, fifty times: stopped within a second, one end', async () => {
    const { url, person, chatId, view, turn } = await scene();
    const others = await Promise.all(Array.from({ length: 9 }, () => new Person(url).open()));
    for (let round = 0; round < 50; round++) {
      const run = await turn();
      const began = performance.now();
      const answers = await Promise.all(
        [person, ...others].map((from) => from.do('turn:stop', { chatId, requestId: run.requestId })),
      );
      expect(performance.now() - began).toBeLessThan(1000);
      for (const answer of answers) expect(answer.turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
      await person.ended(chatId, run.requestId);
      expect(view.ends(run.requestId)).toHaveLength(1);
    }
  });

  test('C19: an assistant that ignores its signal: the chat is free at once, and what comes later is refused', async () => {
    const { assistant, seen, go } = deaf();
    const server = await startServer({ assistants: [assistant] });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'deaf' });
    const view = await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    await until(() => view.text(turn.requestId) === 'before', 'the first words');
    const began = performance.now();
    await person.do('turn:stop', { chatId });
    const { turn: next } = await person.start(chatId, 'next', { assistantId: 'echo', onBusy: 'reject' });
    await person.ended(chatId, next.requestId);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(seen.aborted).toBe(true);
    go();
    await until(() => seen.late.length === 3, 'the late words');
    expect(seen.late).toEqual(['turn_ended', 'turn_ended', 'turn_ended']);
    const history = await expectConsistent(server.url, chatId, [person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'before', 'next', 'next']);
  });

  test('C19: the step that was pending has a last status', async () => {
    const { person, chatId, turn } = await scene();
    const run = await turn();
    const stepId = uid('s');
    await run.push({ op: 'step.start', stepId, type: 'tool', input: { q: 1 } });
    await person.do('turn:stop', { chatId });
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps).toEqual([expect.objectContaining({ stepId, status: 'interrupted', input: { q: 1 } })]);
    const late = await run.agent.refused('turn:push', {
      ...run.frame,
      seq: run.seq + 1,
      ops: [{ op: 'step.end', stepId, status: 'completed' }],
    });
    expect(late.code).toBe('turn_ended');
  });

  test('a queued turn leaves the queue; the one that runs does not notice', async () => {
    const { url, person, agent, chatId, view, turn } = await scene();
    const run = await turn();
    const queued = (await person.start(chatId, 'q1')).turn.requestId;
    const after = (await person.start(chatId, 'q2')).turn.requestId;
    const { turn: stopped } = await person.do('turn:stop', { chatId, requestId: queued });
    expect(stopped).toMatchObject({ status: 'interrupted', stopReason: 'stopped', startedAt: null });
    await person.ended(chatId, queued);
    await run.send('still here');
    await run.close();
    await (await agent.run(after)).close();
    await person.ended(chatId, after);
    expect(agent.runs.map(({ requestId }) => requestId)).toEqual([run.requestId, after]);
    expect(view.ends(queued)).toHaveLength(1);
    expect((await expectConsistent(url, chatId, [person])).map(({ props }) => props['content'])).toEqual([
      'go',
      'q1',
      'q2',
      'still here',
    ]);
  });

  test('C41: a stop ends exactly the turn that it names', async () => {
    const { person, agent, chatId, turn } = await scene();
    const elsewhere = await person.createChat({ assistantId: 'bot' });
    await person.follow(elsewhere);
    const one = await turn();
    const two = await agent.run((await person.start(elsewhere, 'go')).turn.requestId);
    await person.do('turn:stop', { requestId: one.requestId });
    await two.send('unharmed');
    await two.close();
    expect((await person.ended(elsewhere, two.requestId)).turn.status).toBe('completed');
    // An old id never touches a newer turn.
    const four = await agent.run((await person.start(elsewhere, 'more')).turn.requestId);
    const { turn: old } = await person.do('turn:stop', { chatId: elsewhere, requestId: two.requestId });
    expect(old.status).toBe('completed');
    await four.close();
    expect((await person.ended(elsewhere, four.requestId)).turn.status).toBe('completed');
    expect((await person.refused('turn:stop', { chatId, requestId: four.requestId })).code).toBe('not_found');
  });

  test('stopping an ended turn is a success that changes nothing; one that does not exist is not_found', async () => {
    const { person, chatId, view, turn } = await scene();
    const run = await turn();
    await run.close();
    const { turn: ended } = await person.ended(chatId, run.requestId);
    const offset = view.position?.offset;
    expect((await person.do('turn:stop', { requestId: run.requestId })).turn).toEqual(ended);
    await person.do('chat:get', { chatId });
    expect(view.position?.offset).toBe(offset);
    expect((await person.refused('turn:stop', { chatId })).code).toBe('not_found');
    expect((await person.refused('turn:stop', { requestId: uid('r') })).code).toBe('not_found');
    expect((await person.refused('turn:stop', { chatId, requestId: uid('r') })).code).toBe('not_found');
  });

  test('commands of one connection on one chat are taken in order: a stop sent right behind its start finds it', async () => {
    const { person, chatId } = await scene();
    for (let round = 0; round < 20; round++) {
      const requestId = uid('r');
      const [started, stopped] = await Promise.all([
        person.start(chatId, 'go', { requestId }),
        person.do('turn:stop', round % 2 ? { chatId, requestId } : { requestId }),
      ]);
      expect(started.duplicate).toBe(false);
      expect(stopped.turn).toMatchObject({ requestId, status: 'interrupted' });
    }
  });

  test('a stop from elsewhere that overtakes the start: it finds nothing, or ends the turn; never a success without an end', async () => {
    const { url, person, agent, chatId, view, turn } = await scene();
    const other = await new Person(url).open();
    const first = await turn();
    await first.close();
    await person.ended(chatId, first.requestId);
    let newest = first.requestId;
    for (let round = 0; round < 40; round++) {
      const requestId = uid('r');
      const body = round % 2 ? { input: 'go' } : { regenerate: newest };
      const starting = person.do('turn:start', { chatId, requestId, ...body });
      let stopped = await other.ask('turn:stop', { chatId, requestId });
      while (!stopped.ok) {
        expect(stopped.error.code).toBe('not_found');
        stopped = await other.ask('turn:stop', { chatId, requestId });
      }
      expect((stopped.data as { turn: unknown }).turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
      await starting;
      await person.ended(chatId, requestId);
      expect(view.ends(requestId)).toHaveLength(1);
      newest = requestId;
    }
    expect(agent.aborts.length).toBeLessThanOrEqual(40);
  });

  test('a store that does not answer: free within commitRetryMs; a second stop waits for the same end', async () => {
    const { url, server, person, chatId, turn } = await scene({ env: { COMMIT_RETRY_MS: '200' } });
    const other = await new Person(url).open();
    const run = await turn();
    const lock = await storeBeside(server.dataDir).lock();
    const answers = await Promise.all([
      person.do('turn:stop', { chatId }),
      other.do('turn:stop', { requestId: run.requestId }),
    ]);
    for (const { turn: stopped } of answers)
      expect(stopped).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    expect((await person.ended(chatId, run.requestId)).persisted).toBe(false);
    expect((await person.refused('turn:stop', { chatId })).code).toBe('not_found');
    await lock.release();
  });

  test('a turn that waits for its agent can be stopped; so can one in the background', async () => {
    const { person, chatId, view } = await scene();
    const front = (await person.start(chatId, 'x', { assistantId: 'nobody' })).turn.requestId;
    const back = (await person.start(chatId, 'x', { assistantId: 'nobody', onBusy: 'parallel' })).turn.requestId;
    for (const requestId of [back, front]) {
      expect((await person.do('turn:stop', { requestId })).turn.stopReason).toBe('stopped');
      await person.ended(chatId, requestId);
      expect(view.ends(requestId)).toHaveLength(1);
    }
  });
});

describe('TRN-12: a turn that runs too long', () => {
  test('ends as interrupted (timeout) with its text, and can be resumed', async () => {
    const { url, person, agent, chatId, turn } = await scene({ env: { MAX_TURN_MS: '300' } });
    const run = await turn();
    await run.send('slow');
    const { turn: ended } = await person.ended(chatId, run.requestId);
    expect(ended).toMatchObject({ status: 'interrupted', stopReason: 'timeout' });
    expect((await run.aborted()).reason).toBe('timeout');
    expect((await expectConsistent(url, chatId, [person])).map(({ props }) => props['content'])).toEqual([
      'go',
      'slow',
    ]);
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    await next.close();
    expect((await person.ended(chatId, run.requestId, 2)).turn.status).toBe('completed');
  });
});
