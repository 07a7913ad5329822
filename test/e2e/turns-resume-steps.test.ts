import { describe, expect, test } from 'vitest';
import type { Message, OpInput, Result, Step } from '../../protocol/index.js';
import type { Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { scene, type Scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);
const begin = (stepId: string, more: Partial<Extract<OpInput, { op: 'step.start' }>> = {}): OpInput => ({
  op: 'step.start',
  stepId,
  type: 'llm',
  ...more,
});
const end = (
  stepId: string,
  status: 'completed' | 'failed' = 'completed',
  more: Partial<Extract<OpInput, { op: 'step.end' }>> = {},
): OpInput => ({ op: 'step.end', stepId, status, ...more });
const say = (content: string, more: Partial<Extract<OpInput, { op: 'send' }>> = {}): OpInput => ({
  op: 'send',
  messageId: uid('m'),
  type: 'text',
  props: { content },
  ...more,
});

/** Fails the attempt and gives the run of the next one. */
async function again(
  { person, agent, chatId }: Scene,
  run: Run,
  how: 'failed' | 'interrupted' = 'failed',
): Promise<Run> {
  await run.close(how);
  await person.ended(chatId, run.requestId, run.attempt);
  await person.do('turn:resume', { requestId: run.requestId, attempt: run.attempt + 1 });
  return agent.run(run.requestId, run.attempt + 1);
}

async function finish({ person, chatId }: Scene, run: Run, how?: 'interrupted'): Promise<void> {
  await run.close(how);
  await person.ended(chatId, run.requestId, run.attempt);
}

async function stepsOf({ person }: Scene, run: Run): Promise<Map<string, Step>> {
  const { steps } = await person.do<{ steps: Step[] }>('step:list', { requestId: run.requestId });
  return new Map(steps.map((step) => [step.stepId, step]));
}

const texts = async ({ url, chatId, person }: Scene): Promise<unknown[]> =>
  contents(await expectConsistent(url, chatId, [person]));

describe('TRN-9: a resume with steps', () => {
  test('completed steps are not run again and what they sent stays; the incomplete leaf comes with its input and place', async () => {
    const here = await scene();
    const run = await here.turn();
    const [first, second] = [uid('s'), uid('s')];
    await run.push(begin(first, { input: { q: 1 } }), say('kept'), end(first, 'completed', { output: { a: 1 } }));
    await run.push(begin(second, { type: 'tool', input: { q: 2 } }), say('torn'));
    const next = await again(here, run);
    const { resume } = next.assignment ?? {};
    expect(resume?.steps).toEqual([
      expect.objectContaining({ stepId: second, type: 'tool', status: 'failed', input: { q: 2 } }),
    ]);
    expect(resume?.steps[0]?.stackPath).toEqual([{ stackId: run.stackId, assistantId: 'bot', stackDepth: 0 }]);
    expect(resume?.completedSteps).toEqual([expect.objectContaining({ stepId: first, output: { a: 1 } })]);
    expect(contents(resume?.messages ?? [])).toEqual(['kept', 'torn']);
    await next.push(begin(second));
    expect(await texts(here)).toEqual(['go', 'kept', 'torn']);
    await next.push(say('mended'));
    expect(await texts(here)).toEqual(['go', 'kept', 'mended']);
    await next.push(end(second));
    await finish(here, next);
    expect(await texts(here)).toEqual(['go', 'kept', 'mended']);
    const steps = await stepsOf(here, run);
    expect(steps.size).toBe(2);
    expect(steps.get(second)).toMatchObject({ status: 'completed', input: { q: 2 }, sequence: 2 });
  });

  test('a completed step cannot be begun again, nor a running one twice', async () => {
    const here = await scene();
    const run = await here.turn();
    const [done, open] = [uid('s'), uid('s')];
    await run.push(begin(done), end(done), begin(open));
    const next = await again(here, run);
    const refused = async (...ops: OpInput[]) =>
      (await next.agent.refused('turn:push', { ...next.frame, seq: next.seq + 1, ops })).code;
    expect(await refused(begin(done))).toBe('bad_request');
    expect(await refused(begin(open), begin(open))).toBe('bad_request');
    expect(await refused(end(done))).toBe('bad_request');
    await next.push(begin(open), end(open));
    await finish(here, next);
  });

  test('what an incomplete step had sent goes when its new run completes without a word; by step.end, or by the end of the turn', async () => {
    const here = await scene();
    const run = await here.turn();
    const [one, two, three] = [uid('s'), uid('s'), uid('s')];
    await run.push(
      begin(one),
      say('one'),
      end(one, 'failed'),
      begin(two),
      say('two'),
      end(two, 'failed'),
      begin(three),
      say('three'),
    );
    const next = await again(here, run);
    expect(next.assignment?.resume?.steps.map(({ stepId }) => stepId).sort()).toEqual([one, two, three].sort());
    await next.push(begin(one), end(one));
    expect(await texts(here)).toEqual(['go', 'two', 'three']);
    await next.push(begin(two));
    await finish(here, next);
    // The second ran again, until its turn completed; the third did not run.
    expect(await texts(here)).toEqual(['go', 'three']);
    expect((await stepsOf(here, run)).get(two)?.status).toBe('completed');
  });

  test('a new run that fails without a word loses nothing', async () => {
    const here = await scene();
    const run = await here.turn();
    const stepId = uid('s');
    await run.push(begin(stepId), say('first try'));
    const second = await again(here, run);
    await second.push(begin(stepId));
    const third = await again(here, second, 'interrupted');
    expect(contents(third.assignment?.resume?.messages ?? [])).toEqual(['first try']);
    expect(await texts(here)).toEqual(['go', 'first try']);
    await third.push(begin(stepId), say('third try'), end(stepId));
    await finish(here, third);
    expect(await texts(here)).toEqual(['go', 'third try']);
  });

  test('messages outside any step stay', async () => {
    const here = await scene();
    const run = await here.turn();
    const stepId = uid('s');
    await run.push(say('outside'), begin(stepId), say('inside'));
    const next = await again(here, run);
    await next.push(say('more'), begin(stepId), say('again'), end(stepId));
    await finish(here, next);
    expect(await texts(here)).toEqual(['go', 'outside', 'more', 'again']);
  });

  test('a push that is refused supersedes nothing', async () => {
    const here = await scene();
    const run = await here.turn();
    const stepId = uid('s');
    await run.push(begin(stepId), say('old'));
    const next = await again(here, run);
    await next.push(begin(stepId));
    const bad = await next.agent.refused('turn:push', {
      ...next.frame,
      seq: next.seq + 1,
      ops: [say('new'), { op: 'end', messageId: 'nothing' }],
    });
    expect(bad).toMatchObject({ code: 'bad_request', details: { index: 1 } });
    expect(await texts(here)).toEqual(['go', 'old']);
    await next.push(say('new'));
    await finish(here, next);
    expect(await texts(here)).toEqual(['go', 'new']);
  });

  test('the space is as it was when the incomplete step that began last began', async () => {
    const here = await scene();
    const run = await here.turn();
    const [one, two, three] = [uid('s'), uid('s'), uid('s')];
    await run.push(
      { op: 'space.set', key: 'a', value: 1 },
      { op: 'space.set', key: 'gone', value: true },
      begin(one),
      { op: 'space.set', key: 'a', value: 2 },
      { op: 'space.delete', key: 'gone' },
      begin(two),
      { op: 'space.set', key: 'a', value: 3 },
      begin(three),
      end(three),
      { op: 'space.set', key: 'late', value: 4 },
    );
    const next = await again(here, run);
    expect(next.assignment?.space).toEqual({ a: 2 });
    // The one begun last, not the one with the highest sequence: now it is the first.
    await next.push(begin(two), { op: 'space.set', key: 'a', value: 5 }, begin(one), {
      op: 'space.set',
      key: 'a',
      value: 6,
    });
    const third = await again(here, next);
    expect(third.assignment?.space).toEqual({ a: 5 });
    await third.push(begin(one), end(one), begin(two), end(two));
    await finish(here, third);
  });

  test('a failed step whose caller went on is not resumed', async () => {
    const here = await scene();
    const run = await here.turn();
    const [handled, open] = [uid('s'), uid('s')];
    await run.push(
      begin(handled),
      say('sorry'),
      end(handled, 'failed', { error: { code: 'x' }, metadata: { handled: true } }),
      begin(open),
      say('x'),
    );
    const next = await again(here, run);
    expect(next.assignment?.resume?.steps.map(({ stepId }) => stepId)).toEqual([open]);
    await next.push(begin(open), say('y'), end(open));
    await finish(here, next);
    expect(await texts(here)).toEqual(['go', 'sorry', 'y']);
    expect((await stepsOf(here, run)).get(handled)).toMatchObject({
      status: 'failed',
      metadata: { handled: true },
      error: { code: 'x' },
    });
  });

  test('one whose steps are all completed resumes with steps: [] and its messages', async () => {
    const here = await scene();
    const run = await here.turn();
    const stepId = uid('s');
    await run.push(begin(stepId), say('done'), end(stepId));
    const next = await again(here, run, 'interrupted');
    expect(next.assignment?.resume).toMatchObject({ steps: [], completedSteps: [{ stepId }] });
    expect(contents(next.assignment?.resume?.messages ?? [])).toEqual(['done']);
    await next.push(say('and on'));
    await finish(here, next);
    expect(await texts(here)).toEqual(['go', 'done', 'and on']);
  });

  test('the call stack of a delegated leaf, deepest first, root to leaf; its callers stand as they were', async () => {
    const here = await scene();
    const run = await here.turn();
    const [caller, middle, leaf, beside] = [uid('s'), uid('s'), uid('s'), uid('s')];
    const [child, grandchild] = [uid('k'), uid('k')];
    await run.push(
      begin(caller, { type: 'delegate' }),
      begin(middle, { type: 'delegate', stackId: child, stackParentId: run.stackId, assistantId: 'helper' }),
      begin(leaf, { stackId: grandchild, stackParentId: child, assistantId: 'expert', input: 'deep' }),
      say('deep words', { stepId: leaf }),
      begin(beside, { type: 'tool' }),
    );
    const next = await again(here, run, 'interrupted');
    const steps = next.assignment?.resume?.steps ?? [];
    expect(steps.map(({ stepId }) => stepId)).toEqual([leaf, beside]);
    expect(steps[0]).toMatchObject({ input: 'deep', stackId: grandchild, stackParentId: child, stackDepth: 2 });
    expect(steps[0]?.stackPath).toEqual([
      { stackId: run.stackId, assistantId: 'bot', stackDepth: 0 },
      { stackId: child, assistantId: 'helper', stackDepth: 1 },
      { stackId: grandchild, assistantId: 'expert', stackDepth: 2 },
    ]);
    expect((await stepsOf(here, run)).get(leaf)).toMatchObject({ status: 'interrupted' });
    await next.push(
      begin(leaf, { stackId: grandchild }),
      say('again', { stepId: leaf }),
      end(leaf),
      begin(beside),
      end(beside),
    );
    await finish(here, next);
    const after = await stepsOf(here, run);
    expect([...after.values()].map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'completed',
    ]);
    expect(after.get(leaf)).toMatchObject({ stackId: grandchild, stackDepth: 2, assistantId: 'expert' });
    expect(await texts(here)).toEqual(['go', 'again']);
  });

  test('incomplete-step: of the newest incomplete turn, the step that a resume begins with, or none', async () => {
    const here = await scene();
    const at = async () =>
      (await here.person.do<Result<'step:incomplete'>>('step:incomplete', { chatId: here.chatId })).step;
    const run = await here.turn();
    const [caller, below, stopped] = [uid('s'), uid('s'), uid('s')];
    const child = uid('k');
    await run.push(
      begin(stopped),
      begin(caller, { type: 'delegate' }),
      begin(below, { type: 'tool', stackId: child, stackParentId: run.stackId, assistantId: 'helper' }),
      end(below, 'failed', { error: 'why' }),
      end(caller),
    );
    await finish(here, run, 'interrupted');
    expect((await at())?.stepId, 'what failed below a step that completed is not run again').toBe(stopped);
    const newer = await here.turn();
    expect((await at())?.stepId, 'a new turn has not stopped anywhere').toBe(stopped);
    await finish(here, newer, 'interrupted');
    expect(await at(), 'the newest recorded none').toBeNull();
  });

  test('a root that recorded nothing itself still gets the leaf of the call that it made', async () => {
    const here = await scene();
    const run = await here.turn();
    const [leaf, child] = [uid('s'), uid('k')];
    await run.push(begin(leaf, { stackId: child, stackParentId: run.stackId, assistantId: 'helper' }));
    const next = await again(here, run);
    expect(
      next.assignment?.resume?.steps.map(({ stepId, stackPath }) => [stepId, stackPath.map(({ stackId }) => stackId)]),
    ).toEqual([[leaf, [run.stackId, child]]]);
  });

  test('what events tell of steps holds no input, output or snapshot; turn:input gives what was assigned', async () => {
    const here = await scene();
    const run = await here.turn();
    const stepId = uid('s');
    await run.push(
      { op: 'space.set', key: 'secret', value: 'hush' },
      begin(stepId, { input: 'hush' }),
      end(stepId, 'failed', { output: 'hush', error: { message: 'said' } }),
    );
    const next = await again(here, run);
    expect(JSON.stringify(here.view.events)).not.toContain('hush');
    const { resume, space } = await here.agent.do<{ resume: { steps: Step[]; messages: Message[] }; space: object }>(
      'turn:input',
      { requestId: run.requestId },
    );
    expect(resume).toEqual(next.assignment?.resume);
    expect(space).toEqual({ secret: 'hush' });
    await next.push(begin(stepId), end(stepId));
    await finish(here, next);
  });

  test('attempts may fail twenty times; memory and rows are as if it had been once', async () => {
    const here = await scene();
    let run = await here.turn();
    const [done, open] = [uid('s'), uid('s')];
    await run.push(begin(done), say('done'), end(done));
    for (let attempt = 1; attempt <= 20; attempt++) {
      await run.push(begin(open), say(`try ${attempt}`));
      run = await again(here, run);
    }
    await run.push(begin(open), say('at last'), end(open));
    await finish(here, run);
    expect(await texts(here)).toEqual(['go', 'done', 'at last']);
    expect((await stepsOf(here, run)).size).toBe(2);
    expect(await metric(here.url, 'turnstream_buffer_bytes')).toBe(0);
  });
});
