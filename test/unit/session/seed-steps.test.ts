import { describe, expect, it } from 'vitest';
import { stepType } from '../../../protocol/index.js';
import { stepsClosed } from '../../../server/session/end-turn.js';
import { Frame } from '../../../server/session/frame.js';
import { leafSteps, resumeSpace } from '../../../server/session/resume-plan.js';
import { anAttempt, id, ROOT_STACK, say } from './attempt.js';

/** Numbers of the seed design's own lists that are about steps, the space and the call stack (docs/seed-cases.md). */

const begin = (name: string, more: object = {}): object => ({
  op: 'step.start',
  stepId: id(name),
  type: 'llm',
  ...more,
});
const end = (name: string, status: string, more: object = {}): object => ({
  op: 'step.end',
  stepId: id(name),
  status,
  ...more,
});
const space = (key: string, value: unknown): object => ({ op: 'space.set', key, value });

describe('the seed list: steps', () => {
  it('seed 17: a step in a call of a call has its stack, its parent and depth 2, runs, and keeps its input', () => {
    const { live, push, steps } = anAttempt();
    const [child, grandchild] = [id('child'), id('grandchild')];
    live.addFrame(new Frame({ stackId: child, stackParentId: ROOT_STACK, stackDepth: 1, assistantId: 'helper' }, []));
    push(begin('step', { input: { messages: ['hi'] }, stackId: grandchild, stackParentId: child }));
    expect(steps()).toMatchObject([
      {
        stepId: id('step'),
        chatId: 'chat-1',
        requestId: 'request-1',
        stackId: grandchild,
        stackParentId: child,
        stackDepth: 2,
        status: 'running',
        input: { messages: ['hi'] },
        output: null,
        error: null,
        sequence: 1,
      },
    ]);
  });

  it('seed 18: a step that names no stack runs in the one of its frame, the root at depth 0', () => {
    const { push, steps } = anAttempt();
    push(begin('step'));
    expect(steps()).toMatchObject([
      { stackId: ROOT_STACK, stackParentId: null, stackDepth: 0, assistantId: 'bot', input: null },
    ]);
  });

  it('seed 19: three steps begin as 1, 2, 3, and beginning one ends none', () => {
    const { live, push, steps } = anAttempt();
    push(begin('a'), begin('b'), begin('c'));
    expect(steps().map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, 'running'],
      [2, 'running'],
      [3, 'running'],
    ]);
    expect(live.root.openSteps).toEqual(['a', 'b', 'c'].map(id));
  });

  it('seed 20: a step has the space of when it began', () => {
    const { push, steps } = anAttempt();
    push(space('choice', 'query'), space('cart', [1]), begin('first'), space('cart', [1, 2]), begin('second'));
    expect(steps().map(({ spaceSnapshot }) => spaceSnapshot)).toEqual([
      { choice: 'query', cart: [1] },
      { choice: 'query', cart: [1, 2] },
    ]);
  });

  it('seed 21: completing sets the status and the output, and no step is open any more', () => {
    const { live, push, steps } = anAttempt();
    push(begin('step'), end('step', 'completed', { output: { content: 'done' } }));
    expect(steps()).toMatchObject([{ status: 'completed', output: { content: 'done' }, error: null }]);
    expect([live.root.openSteps, live.steps.running()]).toEqual([[], []]);
  });

  it('seed 22, 27: ending a step that nobody began is refused and changes nothing', () => {
    const { push, refusal, state } = anAttempt();
    push(begin('step'), end('step', 'completed'));
    const before = state();
    for (const status of ['completed', 'failed', 'interrupted']) {
      const error = refusal(end('nobody', status, { error: 'why' }));
      expect([error.code, error.details['path']]).toEqual(['bad_request', 'stepId']);
    }
    expect(state()).toBe(before);
  });

  it('seed 23: three that begin and complete in turn are all completed', () => {
    const { push, steps } = anAttempt();
    for (const name of ['a', 'b', 'c']) {
      push(begin(name));
      push(end(name, 'completed', { output: name }));
    }
    expect(steps().map(({ status, output }) => [status, output])).toEqual([
      ['completed', 'a'],
      ['completed', 'b'],
      ['completed', 'c'],
    ]);
  });

  it('seed 24: a failed step keeps why', () => {
    const { push, steps } = anAttempt();
    push(begin('step'), end('step', 'failed', { error: 'connection refused' }));
    expect(steps()).toMatchObject([{ status: 'failed', error: 'connection refused', output: null }]);
  });

  it('seed 25: an interrupted step needs no reason', () => {
    const { push, steps } = anAttempt();
    push(begin('step'), end('step', 'interrupted'));
    expect(steps()).toMatchObject([{ status: 'interrupted', error: null }]);
  });

  it('seed 26: a completed step stays completed, whoever fails it later', () => {
    const { live, push, refusal, steps } = anAttempt();
    push(begin('step'), end('step', 'completed', { output: 1 }));
    for (const status of ['failed', 'interrupted'])
      expect(refusal(end('step', status, { error: 'late' })).code).toBe('bad_request');
    stepsClosed(live, 'failed');
    expect(steps()).toMatchObject([{ status: 'completed', output: 1, error: null }]);
  });

  it('seed 28: a turn that completes leaves nothing to resume, also of a step that it left open', () => {
    const { live, push, steps } = anAttempt();
    push(begin('done'), end('done', 'completed'), begin('open'));
    stepsClosed(live, 'completed');
    expect(steps().map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(leafSteps(steps())).toEqual([]);
  });

  it('seed 29: a turn that fails with one step running leaves exactly that one, failed', () => {
    const { live, push, steps } = anAttempt();
    push(begin('step'));
    stepsClosed(live, 'failed');
    expect(leafSteps(steps())).toMatchObject([{ stepId: id('step'), status: 'failed' }]);
  });

  it('seed 30: one that is interrupted after two completed steps leaves the third, with its space', () => {
    const { live, push, steps } = anAttempt();
    push(begin('a', { type: 'input' }), end('a', 'completed'), begin('b'), end('b', 'completed'));
    push(space('choice', 'query'), begin('c', { type: 'tool', input: { q: 1 } }), space('choice', 'later'));
    stepsClosed(live, 'interrupted');
    expect(leafSteps(steps())).toMatchObject([
      { stepId: id('c'), status: 'interrupted', input: { q: 1 }, spaceSnapshot: { choice: 'query' } },
    ]);
    expect(resumeSpace(live.stepRecords())).toEqual({ choice: 'query' });
    expect(steps().filter(({ status }) => status === 'completed')).toHaveLength(2);
  });

  it('seed 31: the space is a copy both ways, however deep; empty until something is set', () => {
    const { live, push, steps } = anAttempt();
    expect(live.steps.space()).toEqual({});
    push(begin('empty'));
    const value = { list: [{ n: 1 }] };
    push(space('k', value), begin('full'));
    value.list[0]!.n = 99;
    value.list.push({ n: 2 });
    expect(live.steps.space()).toEqual({ k: { list: [{ n: 1 }] } });
    const read = live.steps.space() as Record<string, unknown>;
    read['k'] = 'mine';
    read['more'] = true;
    expect(live.steps.space()).toEqual({ k: { list: [{ n: 1 }] } });
    push(space('k', null), { op: 'space.delete', key: 'nobody' });
    expect(live.steps.space()).toEqual({ k: null });
    push({ op: 'space.delete', key: 'k' });
    expect(live.steps.space()).toEqual({});
    expect(steps().map(({ spaceSnapshot }) => spaceSnapshot)).toEqual([{}, { k: { list: [{ n: 1 }] } }]);
  });

  it('seed 40: there are six types of steps, each kept as it is', () => {
    const { push, steps, refusal } = anAttempt();
    const types = ['input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate'];
    expect(stepType.options).toEqual(types);
    push(...types.map((type) => begin(type, { type })));
    expect(steps().map(({ type }) => type)).toEqual(types);
    expect(refusal(begin('seventh', { type: 'lunch' })).code).toBe('bad_request');
  });

  it('seed 60: a step without its id, its type or a status that ends it is refused', () => {
    const { push, refusal, steps } = anAttempt();
    push(begin('step'));
    for (const bad of [
      { op: 'step.start', type: 'llm' },
      { op: 'step.start', stepId: id('other') },
      { op: 'step.end', status: 'completed' },
      { op: 'step.end', stepId: id('step') },
      end('step', 'running'),
      end('step', 'pending'),
    ]) {
      expect(refusal(bad).code, JSON.stringify(bad)).toBe('bad_request');
    }
    expect(steps()).toMatchObject([{ stepId: id('step'), status: 'running' }]);
  });
});

describe('the seed list: call stacks', () => {
  it('seed 79: the root has no parent and depth 0; what it calls has both, and its own open steps', () => {
    const { live, pushAs, steps, held } = anAttempt();
    const { root } = live;
    expect([root.isRoot, root.place]).toEqual([
      true,
      { stackId: ROOT_STACK, stackParentId: null, stackDepth: 0, assistantId: 'bot' },
    ]);
    const place = { stackId: id('child'), stackParentId: ROOT_STACK, stackDepth: 1, assistantId: 'helper' };
    const child = live.addFrame(new Frame(place, []));
    expect([child.isRoot, live.steps.place(id('child')), live.frames.get(id('child'))]).toEqual([false, place, child]);
    expect(live.steps.place(id('nobody'))).toBeUndefined();
    pushAs(root, begin('call', { type: 'delegate' }));
    pushAs(child, begin('step'), say('text', { content: 'of the child' }));
    pushAs(root, say('text', { content: 'of the root' }));
    pushAs(child, end('step', 'completed'));
    expect([root.openSteps, child.openSteps]).toEqual([[id('call')], []]);
    expect(held().map(({ stepId, assistantId }) => [stepId, assistantId])).toEqual([
      [id('step'), 'helper'],
      [id('call'), 'bot'],
    ]);
    expect(steps().map(({ stackId, stackParentId, stackDepth }) => [stackId, stackParentId, stackDepth])).toEqual([
      [ROOT_STACK, null, 0],
      [id('child'), ROOT_STACK, 1],
    ]);
  });

  it.each(['completed', 'failed', 'interrupted'] as const)('seed 79: a call ends as %s, once', async (status) => {
    const { live } = anAttempt();
    const outcome = { status, output: 'first', error: null };
    live.root.finish(outcome);
    live.root.finish({ status: 'completed', output: 'second', error: null });
    expect([live.root.result, await live.root.done.promise]).toEqual([outcome, outcome]);
  });
});
