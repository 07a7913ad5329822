import { describe, expect, test } from 'vitest';
import { spaceChanges, stepBefore } from '../../../client/web/inspector/turn/space-changes.js';
import { stepName } from '../../../client/web/inspector/turn/step-name.js';
import { stepTree } from '../../../client/web/inspector/turn/step-tree.js';
import { durationText, timeScale } from '../../../client/web/inspector/turn/time-scale.js';
import { turnStory } from '../../../client/web/inspector/turn/turn-story.js';
import { testCase } from '../../../client/web/inspector/test-case.js';
import { LogBook } from '../../../client/web/inspector/log/log-book.js';
import { summaryOf, type EventBody, type Step } from '../../../protocol/index.js';
import { appended, chatRow, created, events, messageRow, turnRow } from '../client/rows.js';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const time = (ms: number): string => new Date(START + ms).toISOString();

const stepRow = (sequence: number, change: Partial<Step> = {}): Step => ({
  stepId: `step-${sequence}`,
  chatId: 'chat-1',
  requestId: 'turn-1',
  assistantId: 'root',
  stackId: 'stack-1',
  stackParentId: null,
  stackDepth: 0,
  type: 'llm',
  status: 'completed',
  input: null,
  output: null,
  spaceSnapshot: null,
  error: null,
  sequence,
  metadata: null,
  createdAt: time(sequence * 100),
  updatedAt: time(sequence * 100 + 50),
  ...change,
});

const shape = (steps: readonly Step[], messages: Parameters<typeof stepTree>[1] = []) =>
  stepTree(steps, messages).map(({ kind, id, depth }) => `${'  '.repeat(depth)}${kind} ${id}`);

describe('the tree of steps', () => {
  test('has a delegated stack under the step that called it, and one that no step names where it began', () => {
    const child = { stackId: 'stack-2', stackParentId: 'stack-1', stackDepth: 1, assistantId: 'child' };
    const deep = { stackId: 'stack-3', stackParentId: 'stack-2', stackDepth: 2, assistantId: 'deep' };
    const steps = [
      stepRow(6),
      stepRow(1),
      stepRow(2, { type: 'delegate', metadata: { childStackId: 'stack-2' } }),
      stepRow(3, child),
      stepRow(4, deep),
      stepRow(5, child),
    ];
    const message = messageRow(1, { stepId: 'step-4' });
    expect(shape(steps, [message, messageRow(2)])).toEqual([
      'stack stack-1',
      '  step step-1',
      '  step step-2',
      '    stack stack-2',
      '      step step-3',
      '      stack stack-3',
      '        step step-4',
      '          message message-1',
      '      step step-5',
      '  step step-6',
      'message message-2',
    ]);
  });

  test('shows each step once, whatever stacks say of one another: circles, missing parents, a thousand levels', () => {
    const circle = [
      stepRow(1, { stackId: 'a', stackParentId: 'b', metadata: { childStackId: 'a' } }),
      stepRow(2, { stackId: 'b', stackParentId: 'a', metadata: { childStackId: 'a' } }),
      stepRow(3, { stackId: 'c', stackParentId: 'gone' }),
    ];
    const ids = (steps: readonly Step[]) =>
      stepTree(steps, [])
        .filter(({ kind }) => kind === 'step')
        .map(({ id }) => id)
        .sort();
    expect(ids(circle)).toEqual(['step-1', 'step-2', 'step-3']);
    const chain = Array.from({ length: 1_000 }, (_, index) =>
      stepRow(index + 1, { stackId: `s${index}`, stackParentId: index === 0 ? null : `s${index - 1}` }),
    );
    expect(ids(chain)).toHaveLength(1_000);
  });
});

describe('the times of a turn', () => {
  test('come from the log: each run of a step, each attempt, the first output', () => {
    const turn = turnRow('turn-1', { startedAt: time(0), createdAt: time(-40) });
    const running = summaryOf(stepRow(1, { status: 'running' }));
    const bodies: readonly (readonly [number, EventBody])[] = [
      [0, { type: 'turn.started', turn }],
      [10, { type: 'step.started', step: running }],
      [30, created(messageRow(1, { state: 'open', stepId: 'step-1', createdAt: time(30), props: { content: '' } }))],
      [80, appended('message-1', 0, 'word')],
      [100, { type: 'step.ended', step: { ...running, status: 'interrupted' } }],
      [110, { type: 'turn.ended', turn: { ...turn, status: 'interrupted', stopReason: 'stopped' }, persisted: true }],
      [9_000, { type: 'turn.started', turn: { ...turn, attempt: 2, startedAt: time(9_000) } }],
      [9_010, { type: 'step.started', step: running }],
    ];
    const told = events(
      0,
      bodies.map(([, body]) => body),
    ).map((event, index) => ({ ...event, at: time(bodies[index]![0]) }));
    const now = { ...turn, attempt: 2, startedAt: time(9_000) };
    const message = messageRow(1, { state: 'open', createdAt: time(30) });
    const story = turnStory(now, [stepRow(1, { status: 'running' })], [message], told);
    expect(story.attempts).toMatchObject([
      { attempt: 1, from: START, to: START + 110, status: 'interrupted', stopReason: 'stopped' },
      { attempt: 2, from: START + 9_000, to: null },
    ]);
    expect(story.steps.get('step-1')).toEqual([
      { from: START + 10, to: START + 100, status: 'interrupted' },
      { from: START + 9_010, to: null, status: 'running' },
    ]);
    expect(story.messages.get('message-1')).toEqual({ from: START + 30, to: null });
    expect(story.firstOutputMs, 'of an attempt that has said nothing yet').toBeNull();
    const first = turnStory({ ...turn, status: 'interrupted', endedAt: time(110) }, [], [message], told.slice(0, 6));
    expect(first.firstOutputMs, 'an empty message is no output').toBe(80);
    expect(first.waited).toEqual({ from: START - 40, to: START });
  });

  test('come from the rows where the log does not reach', () => {
    const turn = turnRow('turn-1', { status: 'completed', startedAt: time(0), endedAt: time(500) });
    const story = turnStory(turn, [stepRow(1), stepRow(2, { status: 'running' })], [], []);
    expect(story.attempts).toMatchObject([{ attempt: 1, from: START, to: START + 500, status: 'completed' }]);
    expect(story.steps.get('step-1')).toEqual([{ from: START + 100, to: START + 150, status: 'completed' }]);
    expect(story.steps.get('step-2'), 'what an end left running ended with it').toMatchObject([{ to: START + 500 }]);
  });
});

describe('the scale of a waterfall', () => {
  test('puts times in proportion, what runs up to now', () => {
    const scale = timeScale(
      [
        { from: 1_000, to: 1_500 },
        { from: 1_200, to: null },
      ],
      2_000,
    );
    expect([1_000, 1_250, 2_000, 0, 9_999].map((time) => scale.at(time))).toEqual([0, 0.25, 1, 0, 1]);
    expect(scale.ticks.map(({ text }) => text)).toEqual(['0 ms', '500 ms', '1 s']);
    expect(scale.breaks).toEqual([]);
  });

  test('leaves out a night between two attempts, and says how long it was', () => {
    const scale = timeScale(
      [
        { from: 0, to: 1_000 },
        { from: 36_001_000, to: 36_004_000 },
      ],
      0,
    );
    expect(scale.ms).toBe(4_000);
    expect(scale.at(1_000)).toBe(0.25);
    expect(scale.at(18_000_000), 'inside the night').toBe(0.25);
    expect(scale.at(36_004_000)).toBe(1);
    expect(scale.breaks).toEqual([{ at: 0.25, ms: 36_000_000 }]);
  });

  test('stands for nothing, for one moment and for clocks that go back', () => {
    expect(timeScale([], 0).at(5)).toBe(0);
    expect(timeScale([{ from: 5, to: 5 }], 0).at(5)).toBe(0);
    expect(
      timeScale(
        [
          { from: 5, to: 1 },
          { from: 0, to: 10 },
        ],
        0,
      ).at(10),
    ).toBe(1);
  });

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_500, '1.5 s'],
    [12_340, '12.3 s'],
    [125_000, '2 min 5 s'],
    [7_200_000, '2 h'],
  ])('says %i ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});

test('what became of the space between two steps is said by key', () => {
  const steps = [
    stepRow(1, { spaceSnapshot: { a: 1, b: 1, c: 1 } }),
    stepRow(2, { spaceSnapshot: { a: 1, b: 2, d: 1 } }),
  ];
  expect(stepBefore(steps, steps[1]!)).toBe(steps[0]);
  expect(spaceChanges(steps[0]!.spaceSnapshot, steps[1]!.spaceSnapshot)).toEqual({
    added: ['d'],
    changed: ['b'],
    removed: ['c'],
  });
});

test('a test case begins at the last view and holds the events up to the place, one a line', () => {
  const book = new LogBook();
  const view = {
    chat: chatRow(),
    position: { epoch: 'e1', offset: 0 },
    ...{ messages: [], hasMore: false, turns: new Map(), steps: new Map(), deleted: false },
  };
  const told = events(0, [
    created(messageRow(1, { state: 'open', props: { content: '`${1}`</script>' } })),
    appended('message-1', 15, '\u2028"\''),
    appended('message-1', 18, 'later'),
  ]);
  book.add([{ why: 'opened', problem: '', view, unknown: [] }, ...told]);
  const text = testCase(book.state.getSnapshot().entries, 2, book.viewAt(2)!);
  expect(text).toContain("from 'turnstream/protocol'");
  expect(text).toContain(`  ${JSON.stringify(told[1])},\n];`);
  expect(text).not.toContain('later');
  expect(text).toContain('test("the events up to e1:2 of chat chat-1 give its view"');
});

test.each([
  ['its metadata', { metadata: { name: 'search' }, input: { name: 'other' } }, 'search'],
  ['what went into it', { metadata: { model: 7 }, input: { model: 'large', messages: [] } }, 'large'],
  ['nothing: what went into it, cut', { input: { url: 'x'.repeat(200) } }, `{"url":"${'x'.repeat(72)}`],
  ['nothing, with no input', {}, ''],
  ['nothing: a delegation is named by the stack below it', { type: 'delegate', input: ['go'] }, ''],
] as const)('a step is named by %s', (_, change, name) => expect(stepName(stepRow(1, change))).toBe(name));
