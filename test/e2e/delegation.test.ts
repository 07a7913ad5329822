import { describe, expect, test } from 'vitest';
import { Agent, type Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);

/** The child frame of a turn, once this agent has it. */
const childOf = (agent: Agent, { requestId, stackId }: Pick<Run, 'requestId' | 'stackId'>): Promise<Run> =>
  until(
    () => agent.runs.find((run) => run.requestId === requestId && run.assignment?.stackParentId === stackId),
    'the child frame',
  );

async function withHelper(more: Parameters<typeof scene>[0] = {}): Promise<Scene & { helper: Agent }> {
  const here = await scene(more);
  return { ...here, helper: await new Agent(here.url, ['helper'], { concurrency: 100 }).join() };
}

describe('AGT-8: turn:delegate', () => {
  test('to an in-process assistant: it speaks in the turn of its caller, and its end is answered', async () => {
    const { url, person, chatId, turn } = await scene();
    const run = await turn({ metadata: { delayMs: 0 } });
    await run.send('before');
    const answer = await run.delegate('echo', 'said by another');
    expect(answer).toMatchObject({ status: 'completed', output: null, error: null });
    await run.send('after');
    await run.close();
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ props, assistantId }) => [props['content'], assistantId])).toEqual([
      ['go', null],
      ['before', 'bot'],
      ['said by another', 'echo'],
      ['after', 'bot'],
    ]);
    expect(history.every(({ requestId }) => requestId === run.requestId)).toBe(true);
  });

  test('to another agent: own frame, own seq, one space; the output goes back', async () => {
    const { url, person, chatId, turn, helper } = await withHelper();
    const run = await turn();
    await run.push({ op: 'space.set', key: 'from', value: 'parent' });
    const answering = run.delegate('helper', [{ type: 'text', props: { content: 'help' } }]);
    const child = await childOf(helper, run);
    expect(child.assignment).toMatchObject({
      stackParentId: run.stackId,
      stackDepth: 1,
      space: { from: 'parent' },
      resume: null,
    });
    expect(child.stackId).not.toBe(run.stackId);
    expect(contents(child.assignment?.input ?? [])).toEqual(['help']);
    await child.push({ op: 'space.set', key: 'to', value: 'parent too' });
    // Parent and child may speak at once.
    await Promise.all([child.send('child'), run.send('parent')]);
    expect(await child.close('completed', { output: { answer: 42 } })).toEqual({
      stackId: child.stackId,
      status: 'completed',
    });
    expect(await answering).toMatchObject({ stackId: child.stackId, status: 'completed', output: { answer: 42 } });
    const stepId = uid('s');
    await run.push({ op: 'step.start', stepId, type: 'llm' });
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps[0]!.spaceSnapshot).toEqual({ from: 'parent', to: 'parent too' });
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(contents(await expectConsistent(url, chatId, [person])).sort()).toEqual(['child', 'go', 'parent']);
  });

  test('nested, three deep: answers come back up; each frame knows its depth', async () => {
    const { url, person, chatId, turn, helper } = await withHelper();
    const run = await turn({ metadata: { delayMs: 0 } });
    const outer = run.delegate('helper', 'one');
    const one = await childOf(helper, run);
    const inner = one.delegate('helper', 'two', { childStackId: uid('k') });
    const two = await childOf(helper, one);
    expect([one.assignment?.stackDepth, two.assignment?.stackDepth]).toEqual([1, 2]);
    expect((await two.delegate('echo', 'deep')).status).toBe('completed');
    await two.close('completed', { output: 2 });
    expect((await inner).output).toBe(2);
    await one.close('completed', { output: 1 });
    expect((await outer).output).toBe(1);
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'deep']);
  });

  test('a failed child tells its parent, which may go on', async () => {
    const { person, chatId, turn, helper } = await withHelper();
    const run = await turn();
    const answering = run.delegate('helper', 'x');
    const child = await childOf(helper, run);
    await child.send('half');
    await child.close('failed', { error: { code: 'no', message: 'cannot' } });
    expect(await answering).toMatchObject({ status: 'failed', error: { code: 'no', message: 'cannot' } });
    await until(() => person.chats.get(chatId)?.messages.at(-1)?.state === 'closed', 'its message closed');
    await run.close();
    expect((await person.ended(chatId, run.requestId)).turn.status).toBe('completed');
  });

  test('several at once, with their seq repeated: each runs once, each answer twice', async () => {
    const { person, chatId, turn, agent, helper } = await withHelper();
    const run = await turn();
    const args = [1, 2, 3].map((seq) => ({ ...run.frame, seq, assistantId: 'helper', input: `${seq}` }));
    const answers = [...args, ...args].map((arg) => agent.do('turn:delegate', arg));
    await until(() => helper.runs.length === 3, 'three children');
    for (const child of helper.runs)
      await child.close('completed', { output: child.assignment?.input[0]?.props['content'] });
    expect((await Promise.all(answers)).map(({ output }) => output)).toEqual(['1', '2', '3', '1', '2', '3']);
    expect(helper.runs).toHaveLength(3);
    run.seq = 3;
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(await agent.do('turn:delegate', args[1])).toMatchObject({ output: '2' });
  });

  test.each([
    ['completes', (_here: Scene, run: Run) => run.close()],
    ['fails', (_here: Scene, run: Run) => run.close('failed')],
    ['is stopped', ({ person }: Scene, run: Run) => person.do('turn:stop', { requestId: run.requestId })],
  ])('C35: the parent %s: its children end, are told so, and what they send later is refused', async (_how, end) => {
    const here = await withHelper();
    const { url, person, agent, chatId, turn, helper } = here;
    const run = await turn({ metadata: { delayMs: 20 } });
    const answering = [
      agent.ask('turn:delegate', { ...run.frame, seq: 1, assistantId: 'helper', input: 'x' }),
      agent.ask('turn:delegate', { ...run.frame, seq: 2, assistantId: 'echo', input: 'word '.repeat(1000) }),
    ];
    run.seq = 2;
    const child = await childOf(helper, run);
    const messageId = await child.send('child ');
    const nested = child.delegate('helper', 'y');
    const grandchild = await childOf(helper, child);
    const stepId = uid('s');
    await grandchild.push({ op: 'step.start', stepId, type: 'tool' });
    await end(here, run);
    await person.ended(chatId, run.requestId);
    for (const answer of await Promise.all(answering))
      expect(answer).toMatchObject({ ok: true, data: { status: expect.any(String) as string } });
    expect(await nested).toMatchObject({ status: expect.any(String) as string });
    for (const frame of [child, grandchild]) {
      await frame.aborted();
      expect(
        (
          await helper.refused('turn:push', {
            ...frame.frame,
            seq: frame.seq + 1,
            ops: [{ op: 'append', messageId, text: 'ghost' }],
          })
        ).code,
      ).toBe('turn_ended');
    }
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(['completed', 'failed', 'interrupted']).toContain(steps[0]!.status);
    const { length } = await expectConsistent(url, chatId, [person]);
    expect(length).toBe(3);
    expect(await metric(url, 'turnstream_turns_active')).toBe(0);
    const next = await turn();
    await next.close();
    await person.ended(chatId, next.requestId);
  });

  test('C35: a child that ends takes what it called along; the turn goes on', async () => {
    const { url, person, chatId, turn, helper } = await withHelper();
    const run = await turn();
    const answering = run.delegate('helper', 'x');
    const child = await childOf(helper, run);
    const nested = child.delegate('helper', 'y');
    const grandchild = await childOf(helper, child);
    await grandchild.send('left open');
    await child.close();
    expect(await answering).toMatchObject({ status: 'completed' });
    expect(await nested).toMatchObject({ status: 'interrupted' });
    expect((await grandchild.aborted()).reason).toBe('parent_ended');
    expect((await helper.refused('turn:push', { ...grandchild.frame, seq: 2, ops: [] })).code).toBe('turn_ended');
    await until(() => person.chats.get(chatId)?.messages.at(-1)?.state === 'closed', 'its message closed');
    await run.send('still here');
    await run.close();
    expect((await person.ended(chatId, run.requestId)).turn.status).toBe('completed');
    await expectConsistent(url, chatId, [person]);
  });

  test('the agent of a child goes away: the parent is told, and lives', async () => {
    const { person, chatId, turn, helper } = await withHelper({ env: { AGENT_GRACE_MS: '100' } });
    const run = await turn();
    const answering = run.delegate('helper', 'x');
    const child = await childOf(helper, run);
    await child.send('half');
    helper.drop();
    expect(await answering).toMatchObject({
      stackId: child.stackId,
      status: 'interrupted',
      error: { code: 'agent_lost' },
    });
    await run.send('without help');
    await run.close();
    expect((await person.ended(chatId, run.requestId)).turn.status).toBe('completed');
  });

  test('the agent of a child returns in time and goes on', async () => {
    const { person, chatId, turn, helper } = await withHelper();
    const run = await turn();
    const answering = run.delegate('helper', 'x');
    const child = await childOf(helper, run);
    await child.push({ op: 'signal', name: 'one', data: 1 });
    helper.drop();
    await until(() => helper.disconnectReason, 'the helper gone');
    await helper.open();
    expect((await helper.attach()).assigned).toEqual([{ ...child.frame, lastSeq: 1 }]);
    await child.close('completed', { output: 'back' });
    expect(await answering).toMatchObject({ status: 'completed', output: 'back' });
    await run.close();
    await person.ended(chatId, run.requestId);
  });

  test('AGT-5: nobody serves it: failed with agent_unavailable after agentWaitMs; a full helper means waiting', async () => {
    const { url, person, chatId, turn } = await scene({ env: { AGENT_WAIT_MS: '100' } });
    const run = await turn();
    expect(await run.delegate('nobody', 'x')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_unavailable' },
    });
    const helper = await new Agent(url, ['helper'], { concurrency: 1 }).join();
    const answers = [run.delegate('helper', '1'), run.delegate('helper', '2')];
    const first = await until(() => helper.runs[0], 'the first');
    // Who attaches has all that waits looked at again: the second still waits, though the helper works in its turn already.
    await new Agent(url, ['other']).join();
    expect(await run.delegate('nobody', 'x')).toMatchObject({ status: 'failed' });
    expect(helper.runs).toHaveLength(1);
    await first.close();
    await (await until(() => helper.runs[1], 'the second')).close();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(['completed', 'completed']);
    await run.close();
    await person.ended(chatId, run.requestId);
  });

  test('a stack id in use is refused, and so is a stack too deep; the seq is not taken', async () => {
    const { person, chatId, turn, agent, helper } = await withHelper();
    const run = await turn();
    const childStackId = uid('k');
    void run.delegate('helper', 'x', { childStackId });
    const child = await childOf(helper, run);
    expect(
      (await agent.refused('turn:delegate', { ...run.frame, seq: 2, assistantId: 'helper', input: 'x', childStackId }))
        .code,
    ).toBe('bad_request');
    let deepest = child;
    for (let depth = 2; depth <= 32; depth++) {
      void deepest.delegate('helper', 'x').catch(() => undefined);
      deepest = await childOf(helper, deepest);
    }
    expect(
      (await helper.refused('turn:delegate', { ...deepest.frame, seq: 1, assistantId: 'helper', input: 'x' })).code,
    ).toBe('bad_request');
    await run.send('on');
    await run.close();
    await person.ended(chatId, run.requestId);
    await Promise.all(helper.runs.map((frame) => frame.aborted()));
  });

  test('TRN-9: a delegated leaf is resumed: the child frame, called again under its stack id, learns what is left of it', async () => {
    const { url, person, agent, chatId, turn, helper } = await withHelper();
    const run = await turn();
    const [call, leaf, childStackId] = [uid('s'), uid('s'), uid('k')];
    await run.push({ op: 'step.start', stepId: call, type: 'delegate', input: 'help' });
    void run.delegate('helper', 'help', { childStackId }).catch(() => undefined);
    const child = await childOf(helper, run);
    await child.push(
      { op: 'step.start', stepId: leaf, type: 'llm', input: { prompt: 1 } },
      { op: 'send', type: 'text', props: { content: 'half' } },
    );
    await person.do('turn:stop', { requestId: run.requestId });
    await person.do('turn:resume', { requestId: run.requestId });
    const again = await agent.run(run.requestId, 2);
    expect(
      again.assignment?.resume?.steps.map(({ stepId, stackPath }) => [
        stepId,
        stackPath.map(({ stackId, assistantId }) => [stackId, assistantId]),
      ]),
    ).toEqual([
      [
        leaf,
        [
          [run.stackId, 'bot'],
          [childStackId, 'helper'],
        ],
      ],
    ]);
    const answering = again.delegate('helper', 'help', { childStackId });
    const resumed = await until(
      () => helper.runs.find(({ attempt, stackId }) => attempt === 2 && stackId === childStackId),
      'the child again',
    );
    expect(resumed.assignment?.resume?.steps).toEqual([
      expect.objectContaining({ stepId: leaf, input: { prompt: 1 } }),
    ]);
    await resumed.push(
      { op: 'step.start', stepId: leaf, type: 'llm' },
      { op: 'send', type: 'text', props: { content: 'whole' } },
      { op: 'step.end', stepId: leaf, status: 'completed' },
    );
    await resumed.close('completed', { output: 'done' });
    expect((await answering).output).toBe('done');
    await again.push(
      { op: 'step.start', stepId: call, type: 'delegate' },
      { op: 'step.end', stepId: call, status: 'completed' },
    );
    await again.close();
    await person.ended(chatId, run.requestId, 2);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'whole']);
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps.map((step: { stepId: string; status: string }) => [step.stepId, step.status])).toEqual([
      [call, 'completed'],
      [leaf, 'completed'],
    ]);
  });
});
