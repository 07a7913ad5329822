import { describe, expect, test } from 'vitest';
import type { Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { scene, type Scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);
const texts = async ({ url, chatId, person }: Scene): Promise<unknown[]> =>
  contents(await expectConsistent(url, chatId, [person]));

async function answer(
  { person, chatId }: Scene,
  run: Run,
  text: string | null,
  status: 'completed' | 'failed' = 'completed',
): Promise<void> {
  if (text !== null) await run.send(text);
  await run.close(status);
  await person.ended(chatId, run.requestId, run.attempt);
}

async function regenerate({ person, agent, chatId }: Scene, requestId: string): Promise<Run> {
  const { turn, messages, duplicate } = await person.do('turn:start', { chatId, regenerate: requestId });
  expect([messages, duplicate]).toEqual([[], false]);
  return agent.run(turn.requestId);
}

describe('TRN-11: regenerate', () => {
  test('answers the same input anew, in a new turn; no new user message; the old answer goes with the first new word', async () => {
    const here = await scene();
    const run = await here.turn({ metadata: { a: 1 } });
    await answer(here, run, 'old');
    const next = await regenerate(here, run.requestId);
    expect(next.requestId).not.toBe(run.requestId);
    expect(next.assignment?.input).toEqual(run.assignment?.input);
    expect(next.assignment?.history).toEqual([]);
    expect(next.assignment?.turn).toMatchObject({ attempt: 1, assistantId: 'bot' });
    expect(await texts(here)).toEqual(['go', 'old']);
    await answer(here, next, 'new');
    expect(await texts(here)).toEqual(['go', 'new']);
    expect((await here.person.turn(run.requestId)).status).toBe('completed');
  });

  test('one that is stopped before its first word leaves the old answer', async () => {
    const here = await scene();
    const run = await here.turn();
    await answer(here, run, 'old');
    const next = await regenerate(here, run.requestId);
    await here.person.do('turn:stop', { requestId: next.requestId });
    expect(await texts(here)).toEqual(['go', 'old']);
    await here.person.do('turn:resume', { requestId: next.requestId });
    const again = await here.agent.run(next.requestId, 2);
    expect(contents(again.assignment?.input ?? [])).toEqual(['go']);
    await answer(here, again, 'new');
    expect(await texts(here)).toEqual(['go', 'new']);
  });

  test('C50: failed, tried anew three times: one user message, in the history once, and no failed text', async () => {
    const here = await scene();
    let run = await here.turn();
    await answer(here, run, 'sorry 0', 'failed');
    for (let round = 1; round <= 3; round++) {
      run = await regenerate(here, run.requestId);
      expect(contents(run.assignment?.input ?? [])).toEqual(['go']);
      expect(run.assignment?.history).toEqual([]);
      await answer(here, run, round === 3 ? 'fine' : `sorry ${round}`, round === 3 ? 'completed' : 'failed');
    }
    expect(await texts(here)).toEqual(['go', 'fine']);
    const next = await here.turn();
    expect(contents(next.assignment?.history ?? [])).toEqual(['go', 'fine']);
    const late = await new Person(here.url).open();
    expect(contents((await late.follow(here.chatId)).messages)).toEqual(['go', 'fine', 'go']);
  });

  test('C50: the same by resume: one user message, and the history of the next turn holds the last answer alone', async () => {
    const here = await scene();
    let run = await here.turn();
    await answer(here, run, 'sorry', 'failed');
    for (let attempt = 2; attempt <= 4; attempt++) {
      await here.person.do('turn:resume', { requestId: run.requestId });
      run = await here.agent.run(run.requestId, attempt);
      expect(run.assignment?.history).toEqual([]);
      await answer(here, run, attempt === 4 ? 'fine' : 'sorry', attempt === 4 ? 'completed' : 'failed');
    }
    const next = await here.turn();
    expect(contents(next.assignment?.history ?? [])).toEqual(['go', 'fine']);
  });

  test('not the newest, not ended, unknown: conflict; and nothing is stored', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const code = async (regenerate: string) => (await person.refused('turn:start', { chatId, regenerate })).code;
    expect(await code(run.requestId)).toBe('conflict');
    await answer(here, run, 'a');
    const newer = await here.turn();
    expect(await code(run.requestId)).toBe('conflict');
    await answer(here, newer, 'b');
    expect(await code(run.requestId)).toBe('conflict');
    expect(await code(uid('r'))).toBe('conflict');
    expect((await person.refused('turn:start', { chatId, regenerate: newer.requestId, input: 'x' })).code).toBe(
      'bad_request',
    );
    expect(await texts(here)).toEqual(['go', 'a', 'go', 'b']);
  });

  test('repeated it is one turn; it can be told to interrupt, to wait, or to run beside', async () => {
    const here = await scene();
    const { person, chatId, agent } = here;
    const run = await here.turn();
    await answer(here, run, 'old');
    const requestId = uid('r');
    const body = { chatId, regenerate: run.requestId, requestId };
    const answers = await Promise.all([person.do('turn:start', body), person.do('turn:start', body)]);
    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, true]);
    await answer(here, await agent.run(requestId), 'new');
    const back = await person.do('turn:start', { chatId, regenerate: requestId, onBusy: 'parallel' });
    expect(back.turn.background).toBe(true);
    await answer(here, await agent.run(back.turn.requestId), 'newest');
    expect(await texts(here)).toEqual(['go', 'newest']);
  });

  test('AGT-7: the new answer stands right after its question, though another question came between', async () => {
    const here = await scene();
    const { person, chatId, agent } = here;
    const run = await here.turn();
    await answer(here, run, 'old');
    const again = await regenerate(here, run.requestId);
    const second = (await person.start(chatId, 'second')).turn.requestId;
    await answer(here, again, 'new');
    const two = await agent.run(second);
    expect(contents(two.assignment?.history ?? [])).toEqual(['go', 'new']);
    await answer(here, two, 'to the second');
    const third = await here.turn();
    expect(contents(third.assignment?.history ?? [])).toEqual(['go', 'new', 'second', 'to the second']);
  });

  test('C59: who knew only the old turn sees it ended; the new one is announced, can be stopped, and ends', async () => {
    const here = await scene();
    const { person, chatId, view } = here;
    const run = await here.turn();
    await answer(here, run, 'old');
    const next = await regenerate(here, run.requestId);
    await next.send('half');
    expect([...(view.view?.turns.values() ?? [])].map(({ requestId, status }) => [requestId, status])).toEqual([
      [run.requestId, 'completed'],
      [next.requestId, 'running'],
    ]);
    expect((await person.do('turn:stop', { requestId: run.requestId })).turn.status).toBe('completed');
    expect((await person.do('turn:stop', { chatId })).turn.requestId).toBe(next.requestId);
    await person.ended(chatId, next.requestId);
    expect(
      [...(view.view?.turns.values() ?? [])].every(({ status }) => status !== 'running' && status !== 'queued'),
    ).toBe(true);
  });
});
