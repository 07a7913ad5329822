import { describe, expect, test } from 'vitest';
import type { Message, OpInput, Step } from '../../protocol/index.js';
import { Agent, type Run } from '../harness/agent.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

/** Numbers of the seed design's own list that need a whole server: flows, many at once, what a model is given. */

const say = (type: string, content: string, more: object = {}): OpInput => ({
  op: 'send',
  messageId: uid('m'),
  type,
  props: { content },
  ...more,
});
const begin = (stepId: string, type: Step['type'], more: object = {}): OpInput => ({
  op: 'step.start',
  stepId,
  type,
  ...more,
});
const done = (stepId: string, more: object = {}): OpInput => ({
  op: 'step.end',
  stepId,
  status: 'completed',
  ...more,
});

const stepsOf = async ({ person }: Scene, { requestId }: Pick<Run, 'requestId'>): Promise<Step[]> =>
  (await person.do<{ steps: Step[] }>('step:list', { requestId })).steps;
const read = async <T>(url: string, path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;
const contents = (messages: readonly Message[]): unknown[] => messages.map(({ props }) => props['content']);

async function close({ person, chatId }: Scene, run: Run): Promise<void> {
  await run.close();
  await person.ended(chatId, run.requestId, run.attempt);
}

describe('the seed list: flows', () => {
  test('seed 41: a whole turn: its messages in order, its steps all completed, and nothing to resume', async () => {
    const here = await scene();
    const { url, chatId, person, turn } = here;
    const run = await turn();
    const [input, create, think, tool, next] = [uid('s'), uid('s'), uid('s'), uid('s'), uid('s')];
    await run.push(begin(input, 'input', { input: 'go' }), done(input));
    await run.push(begin(create, 'hook_create'), done(create));
    await run.push(begin(think, 'llm'), say('thinking', 'hm'), say('tool_call', 'look it up'), done(think));
    await run.push(begin(tool, 'tool'), say('tool_result', '42'), done(tool, { output: 42 }));
    await run.push(begin(next, 'hook_next'), say('text', 'It is 42.'), done(next));
    await close(here, run);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ role, type, sequence }) => [role, type, sequence])).toEqual([
      ['user', 'text', 1],
      ['assistant', 'thinking', 2],
      ['assistant', 'tool_call', 3],
      ['assistant', 'tool_result', 4],
      ['assistant', 'text', 5],
    ]);
    const steps = await stepsOf(here, run);
    expect(steps.map(({ stepId, sequence, status }) => [stepId, sequence, status])).toEqual(
      [input, create, think, tool, next].map((stepId, index) => [stepId, index + 1, 'completed']),
    );
    expect(await read(url, `/v1/chats/${chatId}/incomplete-step`)).toEqual({ step: null });
    expect((await person.refused('turn:resume', { requestId: run.requestId })).code).toBe('turn_not_resumable');
  });

  test('seed 42: one that is interrupted keeps the part of the text that was there, and one step with its space', async () => {
    const here = await scene();
    const { url, chatId, person, turn } = here;
    const run = await turn();
    const stepId = uid('s');
    await run.push({ op: 'space.set', key: 'choice', value: { of: ['query'] } });
    await run.push(begin(stepId, 'llm', { input: { messages: ['go'] } }));
    await run.append(await run.send('Once upon '), 'a ti');
    await person.do('turn:stop', { requestId: run.requestId });
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ props, state }) => [props['content'], state])).toEqual([
      ['go', 'closed'],
      ['Once upon a ti', 'closed'],
    ]);
    expect(await stepsOf(here, run)).toMatchObject([
      { stepId, status: 'interrupted', spaceSnapshot: { choice: { of: ['query'] } }, input: { messages: ['go'] } },
    ]);
    const { step } = await read<{ step: Step }>(url, `/v1/chats/${chatId}/incomplete-step`);
    expect(step.stepId).toBe(stepId);
  });

  test('seed 43, 79: what is delegated stands under the assistant that said it, in a stack below its caller', async () => {
    const here = await scene();
    const { url, chatId, person, turn } = here;
    const helper = await new Agent(url, ['visualizer']).join();
    const run = await turn();
    const [call, leaf, childStackId] = [uid('s'), uid('s'), uid('k')];
    await run.push(say('text', 'asking'), begin(call, 'delegate', { input: { to: 'visualizer' } }));
    const answering = run.delegate('visualizer', 'draw', { childStackId });
    const child = await until(() => helper.runs[0], 'the child frame');
    await child.push(begin(leaf, 'llm'), say('text', 'drawn'), done(leaf));
    const live = await read(url, `/v1/stacks/${childStackId}/path`);
    await child.close();
    await answering;
    await run.push(done(call));
    await close(here, run);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ props, assistantId, stepId }) => [props['content'], assistantId, stepId])).toEqual([
      ['go', null, null],
      ['asking', 'bot', null],
      ['drawn', 'visualizer', leaf],
    ]);
    const steps = await stepsOf(here, run);
    expect(steps).toMatchObject([
      { type: 'delegate', stackId: run.stackId, stackParentId: null, stackDepth: 0 },
      { type: 'llm', stackId: childStackId, stackParentId: run.stackId, stackDepth: 1 },
    ]);
    expect(live).toEqual({ path: [run.stackId, childStackId] });
    expect(await read(url, `/v1/stacks/${childStackId}/path`)).toEqual(live);
    expect((await read<{ steps: Step[] }>(url, `/v1/stacks/${childStackId}/steps`)).steps).toEqual([steps[1]]);
  });
});

describe('the seed list: many at once', () => {
  test('seed 34: a hundred messages from four turns at once have a hundred sequences', async () => {
    const { url, chatId, person, agent, turn } = await scene();
    const runs = await Promise.all([1, 2, 3, 4].map(() => turn({ onBusy: 'parallel' })));
    await Promise.all(
      runs.flatMap((run, index) => Array.from({ length: 25 }, (_, n) => run.push(say('text', `${index} ${n}`)))),
    );
    for (const run of runs) await run.close();
    await Promise.all(runs.map((run) => person.ended(chatId, run.requestId)));
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 104 }, (_, n) => n + 1));
    expect(new Set(contents(history)).size).toBe(101);
    for (const [index, { requestId }] of runs.entries()) {
      const mine = history.filter((message) => message.requestId === requestId && message.role === 'assistant');
      expect(contents(mine)).toEqual(Array.from({ length: 25 }, (_, n) => `${index} ${n}`));
    }
    expect(agent.runs).toHaveLength(4);
  });

  test('seed 35: fifty steps that begin and complete at once are fifty steps', async () => {
    const here = await scene();
    const run = await here.turn();
    const ids = Array.from({ length: 50 }, () => uid('s'));
    await Promise.all(ids.map((stepId) => run.push(begin(stepId, 'tool'))));
    await Promise.all([...ids].reverse().map((stepId) => run.push(done(stepId, { output: stepId }))));
    await close(here, run);
    const steps = await stepsOf(here, run);
    expect(steps.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    expect(new Set(steps.map(({ stepId }) => stepId))).toEqual(new Set(ids));
    for (const { stepId, status, output } of steps) expect([status, output]).toEqual(['completed', stepId]);
  });

  test('seed 36: who reads while a hundred are written sees a beginning of them, and in the end all', async () => {
    const here = await scene();
    const { url, chatId, turn } = here;
    const run = await turn();
    let writing = true;
    const reader = (async () => {
      const counts: number[] = [];
      while (writing) {
        const history = await httpHistory(url, chatId);
        expect(contents(history)).toEqual(['go', ...Array.from({ length: history.length - 1 }, (_, n) => `${n}`)]);
        counts.push(history.length);
      }
      return counts;
    })();
    for (let n = 0; n < 100; n++) await run.push(say('text', `${n}`));
    await close(here, run);
    writing = false;
    const counts = await reader;
    expect(counts.length).toBeGreaterThan(1);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(await httpHistory(url, chatId)).toHaveLength(101);
  });
});

describe('the seed list: history', () => {
  test('seed 73, 75: a first turn has its input alone; the next has what was said, and its own input apart', async () => {
    const here = await scene();
    const first = await here.turn();
    expect([first.assignment?.history, contents([...(first.assignment?.input ?? [])])]).toEqual([[], ['go']]);
    await first.send('gone');
    await close(here, first);
    // The same words again are a question of their own: nothing is dropped by comparing texts.
    const second = await here.turn();
    expect(contents([...(second.assignment?.history ?? [])])).toEqual(['go', 'gone']);
    expect(contents([...(second.assignment?.input ?? [])])).toEqual(['go']);
    await close(here, second);
  });

  test('seed 78: a historyLimit of 0, or of no number, counts for none', async () => {
    const here = await scene();
    const { person, agent } = here;
    for (const historyLimit of [0, -1, 1.5, 'many', null]) {
      const chatId = await person.createChat({ assistantId: 'bot', metadata: { historyLimit } });
      await person.follow(chatId);
      const { turn } = await person.start(chatId, 'one');
      await (await agent.run(turn.requestId)).close();
      await person.ended(chatId, turn.requestId);
      const next = await agent.run((await person.start(chatId, 'two')).turn.requestId);
      expect(contents([...(next.assignment?.history ?? [])]), String(historyLimit)).toEqual(['one']);
      await next.close();
    }
  });
});
