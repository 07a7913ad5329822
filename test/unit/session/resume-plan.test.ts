import { describe, expect, it } from 'vitest';
import type { Message, Step } from '../../../protocol/index.js';
import { leafSteps, resumeOf, resumeSpace, supersededBy } from '../../../server/session/resume-plan.js';

let sequence = 0;
const AT = '2026-01-01T00:00:00.000Z';
const step = (stepId: string, more: Partial<Step> = {}): Step => ({
  stepId,
  chatId: 'c',
  requestId: 'r',
  assistantId: 'analyzer',
  stackId: 'stk_001',
  stackParentId: null,
  stackDepth: 0,
  type: 'llm',
  status: 'completed',
  input: null,
  output: null,
  spaceSnapshot: {},
  error: null,
  sequence: ++sequence,
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
});
const ROOT = { stackId: 'stk_001', stackParentId: null, stackDepth: 0, assistantId: 'analyzer' };
const child = { stackId: 'stk_002', stackParentId: 'stk_001', stackDepth: 1, assistantId: 'visualizer' } as const;
const ids = (steps: readonly Step[]) => steps.map(({ stepId }) => stepId);

const root = { stackId: 'stk_001', stackParentId: null, stackDepth: 0, assistantId: 'analyzer' };

/** The seed's table: an analyzer delegates to a visualizer, whose model call is interrupted. */
const a2a = () => {
  sequence = 0;
  return [
    step('1', { type: 'input' }),
    step('2'),
    step('3', { type: 'delegate', status: 'running', spaceSnapshot: { choose_prompt: 'query' } }),
    step('4', { ...child, type: 'input', spaceSnapshot: { choose_prompt: 'query' } }),
    step('5', { ...child, status: 'interrupted', spaceSnapshot: { choose_prompt: 'query' }, input: { messages: [] } }),
  ];
};

describe('TRN-9: what runs again', () => {
  it('is the leaf of a delegation, with the call stack from the root', () => {
    const steps = a2a();
    expect(ids(leafSteps(steps))).toEqual(['5']);
    const resume = resumeOf(steps, [], 'stk_001', root);
    expect(resume?.steps.map((leaf) => [leaf.stepId, leaf.input, leaf.stackPath])).toEqual([
      [
        '5',
        { messages: [] },
        [
          { stackId: 'stk_001', assistantId: 'analyzer', stackDepth: 0 },
          { stackId: 'stk_002', assistantId: 'visualizer', stackDepth: 1 },
        ],
      ],
    ]);
    expect(resume?.completedSteps.map(({ stepId }) => stepId)).toEqual(['1', '2', '4']);
    expect(resumeOf(steps, [], 'stk_002', root)?.completedSteps.map(({ stepId }) => stepId)).toEqual(['4']);
  });

  it('is the delegate step itself where its call never began, or is over', () => {
    const steps = a2a();
    expect(ids(leafSteps(steps.slice(0, 3)))).toEqual(['3']);
    expect(
      ids(leafSteps(steps.map((held) => (held.stepId === '5' ? { ...held, status: 'completed' as const } : held)))),
    ).toEqual(['3']);
  });

  it('is every incomplete leaf, deepest first', () => {
    sequence = 0;
    const steps = [
      step('d1', { type: 'delegate', status: 'running' }),
      step('c1', { ...child, status: 'failed' }),
      step('t1', { type: 'tool', status: 'failed' }),
      step('t2', { type: 'tool', status: 'interrupted' }),
    ];
    expect(ids(leafSteps(steps))).toEqual(['c1', 't2', 't1']);
  });

  it('parallel delegations are told apart: the one whose call has not begun runs again itself', () => {
    sequence = 0;
    const steps = [
      step('d1', { type: 'delegate', status: 'running' }),
      step('d2', { type: 'delegate', status: 'running' }),
      step('c1', { ...child, status: 'interrupted' }),
    ];
    expect(ids(leafSteps(steps))).toEqual(['c1', 'd2']);
  });

  it('is not a failed step whose caller went on', () => {
    sequence = 0;
    expect(leafSteps([step('t', { status: 'failed', metadata: { handled: true } }), step('l')])).toEqual([]);
  });

  it('goes on with the space of the incomplete step that began last', () => {
    const steps = a2a();
    const records = steps.map((held, index) => ({ step: held, beginOrder: index + 1 }));
    expect(resumeSpace(records)).toEqual({ choose_prompt: 'query' });
    const again = { step: { ...(steps[2] as Step), spaceSnapshot: { later: 1 } }, beginOrder: 9 };
    expect(resumeSpace([...records, again])).toEqual({ later: 1 });
    expect(resumeSpace([])).toEqual({});
  });

  it('replaces what the leaves had sent; of a turn without steps all answers; else nothing', () => {
    const message = (messageId: string, stepId: string | null, role: 'user' | 'assistant' = 'assistant') =>
      ({ messageId, stepId, role }) as Message;
    const sent = [message('q', null, 'user'), message('m2', '2'), message('m5', '5'), message('free', null)];
    expect(supersededBy(a2a(), sent)).toEqual({ steps: new Map([['5', ['m5']]]), whole: [] });
    expect(supersededBy([], sent).whole).toEqual(['m2', 'm5', 'free']);
    expect(supersededBy([step('done')], sent)).toEqual({ steps: new Map(), whole: [] });
  });

  it('is found below a root, or a caller, that recorded nothing itself', () => {
    sequence = 0;
    const lonely = step('x', { ...child, status: 'failed' });
    const deeper = step('y', { stackId: 'stk_004', stackParentId: 'stk_003', stackDepth: 3, status: 'failed' });
    const resume = resumeOf([lonely, deeper], [], 'stk_001', ROOT);
    expect(resume?.steps.map(({ stackPath }) => stackPath.map(({ stackId }) => stackId))).toEqual([
      ['stk_001', 'stk_004'],
      ['stk_001', 'stk_002'],
    ]);
  });

  it('a cycle of stacks in the data ends the climb', () => {
    sequence = 0;
    const steps = [
      step('a', { stackId: 'one', stackParentId: 'two', stackDepth: 1, status: 'failed' }),
      step('b', { stackId: 'two', stackParentId: 'one', stackDepth: 1, status: 'failed' }),
    ];
    expect(resumeOf(steps, [], 'one', { ...root, stackId: 'one', stackParentId: 'two' })?.steps.length).toBe(2);
  });
});
