import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ChatError,
  DEFAULT_LIMITS,
  foldMessage,
  type EventBody,
  type Message,
  type OpInput,
} from '../../../protocol/index.js';
import type { Effect } from '../../../server/session/effect.js';
import { anAttempt } from './attempt.js';

const id = (n: number): string => `message-number-${n}`;

const bodies = (effects: readonly Effect[]): EventBody[] =>
  effects.flatMap((effect) => ('body' in effect ? [effect.body] : []));

/** What a client makes of the events. */
function folded(events: readonly EventBody[]): Message[] {
  const messages = new Map<string, Message>();
  for (const event of events) {
    if (event.type === 'message.created') messages.set(event.message.messageId, event.message);
    else if ('messageId' in event)
      messages.set(event.messageId, foldMessage(messages.get(event.messageId) as Message, event));
  }
  return [...messages.values()];
}

const piece = fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00', '\0', '', 'word ');
const text = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''));
const messageId = fc.integer({ min: 1, max: 3 }).map(id);
const anyPath = fc.constantFrom('content', 'title', 'rows.0', 'rows.1.text', 'props.content', 'a.b', 'n');
const anyValue = fc.constantFrom<unknown>('x', 1, null, { b: 'y' }, ['z'], { content: 'c' });
const anyOp: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    op: fc.constant('send'),
    messageId,
    type: fc.constant('text'),
    props: fc.constantFrom({ content: '' }, { n: 1 }, { rows: ['r'] }),
  }),
  fc.record({ op: fc.constant('append'), messageId, text }),
  fc.record({ op: fc.constant('append'), messageId, text, path: anyPath }),
  fc.record({ op: fc.constant('replace'), messageId, props: fc.constantFrom({ content: 'new' }, {}) }),
  fc.record({ op: fc.constant('merge'), messageId, value: anyValue, path: anyPath }),
  fc.record({ op: fc.constant('set'), messageId, value: anyValue, path: anyPath }),
  fc.record({ op: fc.constant('end'), messageId }),
  fc.record({ op: fc.constant('step.start'), stepId: messageId, type: fc.constant('llm') }),
  fc.record({ op: fc.constant('step.end'), stepId: messageId, status: fc.constant('completed') }),
  fc.record({ op: fc.constant('space.set'), key: fc.constant('k'), value: anyValue }),
);

describe('applying ops', () => {
  it('DAT-1, DAT-2: half a character alone is refused where a whole text would be', () => {
    const { push, refusal } = anAttempt();
    push({ op: 'send', messageId: id(1), type: 'text', props: { rows: [] } });
    expect(refusal({ op: 'append', messageId: id(1), text: '\ud83d', path: 'rows.1' }).code).toBe('bad_request');
  });

  it('DAT-1, TRN-6: closing does not fail where two held halves want the same place', () => {
    const { live, push, held } = anAttempt();
    push(
      { op: 'send', messageId: id(1), type: 'text', props: {} },
      { op: 'append', messageId: id(1), text: '\ud83d', path: 'a.b' },
      { op: 'append', messageId: id(1), text: '\ud83d', path: 'a' },
    );
    live.messages.endAll();
    expect(held()).toMatchObject([{ state: 'closed', props: { a: { b: '\uFFFD' } } }]);
  });

  it('DAT-4: the fold of the events is the buffer, and all its text is well-formed (DAT-1)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyOp, { minLength: 1, maxLength: 3 }), { maxLength: 25 }), (pushes) => {
        const { live, push, held } = anAttempt();
        const events: EventBody[] = [];
        for (const ops of pushes) {
          try {
            events.push(...bodies(push(...ops)));
          } catch (error) {
            expect(error).toBeInstanceOf(ChatError);
          }
        }
        expect(folded(events)).toEqual(held());
        events.push(...live.messages.endAll());
        expect(folded(events)).toEqual(held());
        expect(JSON.stringify(held())).not.toMatch(/\\ud[89a-f]|\\u0000/);
      }),
      { numRuns: 300 },
    );
  });

  it('AGT-2: a refused push changes nothing, whatever it did before its bad op', () => {
    fc.assert(
      fc.property(fc.array(anyOp, { maxLength: 8 }), fc.array(anyOp, { maxLength: 4 }), (before, bad) => {
        const { push, refusal, state } = anAttempt();
        for (const op of before) {
          try {
            push(op);
          } catch {
            continue;
          }
        }
        const was = state();
        refusal(...bad, { op: 'nonsense' });
        expect(state()).toBe(was);
      }),
      { numRuns: 300 },
    );
  });

  it('AGT-2: the refusal names the index of the op and the path in it', () => {
    const { push, refusal } = anAttempt();
    push({ op: 'send', messageId: id(1), type: 'text', props: {} });
    const error = refusal({ op: 'append', messageId: id(1), text: 'x' }, { op: 'append', messageId: id(1), text: 7 });
    expect([error.code, error.details['index'], error.details['path']]).toEqual(['bad_request', 1, 'ops.1.text']);
  });

  it('DAT-1: a pair split over two appends is joined; code unit by code unit too (C03)', () => {
    const { live, push, held } = anAttempt();
    push({ op: 'send', messageId: id(1), type: 'text', props: {} });
    expect(
      bodies(push({ op: 'append', messageId: id(1), text: 'a\ud83d' })).map((body) => 'text' in body && body.text),
    ).toEqual(['a']);
    push({ op: 'append', messageId: id(1), text: '\ude00b' });
    const family = '👨‍👩‍👧';
    for (const unit of family.split('')) push({ op: 'append', messageId: id(1), text: unit });
    push({ op: 'append', messageId: id(1), text: '\ud83d' });
    live.messages.endAll();
    expect(held()[0]?.props['content']).toBe(`a😀b${family}\ufffd`);
  });

  it('DAT-3: limits of a message, a turn and the number of messages are named', () => {
    const { push, refusal } = anAttempt({
      ...DEFAULT_LIMITS,
      maxMessageBytes: 1000,
      maxTurnBytes: 3000,
      maxMessagesPerTurn: 4,
    });
    push({ op: 'send', messageId: id(1), type: 'text', props: {} });
    expect(refusal({ op: 'append', messageId: id(1), text: 'x'.repeat(1000) }).details).toMatchObject({
      limit: 'maxMessageBytes',
      max: 1000,
    });
    for (const n of [2, 3, 4]) push({ op: 'send', messageId: id(n), type: 'text', props: {} });
    expect(refusal({ op: 'send', messageId: id(5), type: 'text', props: {} }).details).toMatchObject({
      limit: 'maxMessagesPerTurn',
      max: 4,
    });
    for (const n of [1, 2]) push({ op: 'append', messageId: id(n), text: 'x'.repeat(700) });
    expect(refusal({ op: 'append', messageId: id(3), text: 'x'.repeat(700) }).details).toMatchObject({
      limit: 'maxTurnBytes',
      max: 3000,
    });
  });

  it('a value that is overwritten again and again is not counted again and again', () => {
    const { push } = anAttempt({ ...DEFAULT_LIMITS, maxMessageBytes: 2000 });
    push({ op: 'send', messageId: id(1), type: 'text', props: {} });
    for (let i = 0; i < 100; i++) push({ op: 'set', messageId: id(1), path: 'state', value: 'y'.repeat(500) });
  });

  it('messages belong to the step named, else to the one begun last and still open', () => {
    const { push, held } = anAttempt();
    const [s1, s2] = ['step-number-one-aa', 'step-number-two-aa'];
    const ops: OpInput[] = [
      { op: 'step.start', stepId: s1, type: 'llm' },
      { op: 'step.start', stepId: s2, type: 'tool' },
      { op: 'send', messageId: id(1), type: 'text', props: {} },
      { op: 'send', messageId: id(2), type: 'text', props: {}, stepId: s1 },
      { op: 'step.end', stepId: s2, status: 'completed' },
      { op: 'send', messageId: id(3), type: 'text', props: {} },
    ];
    push(...ops);
    expect(held().map(({ stepId }) => stepId)).toEqual([s2, s1, s1]);
  });

  it('a completed step is never opened or changed again', () => {
    const { push, refusal } = anAttempt();
    const stepId = 'step-number-one-aa';
    push({ op: 'step.start', stepId, type: 'llm' });
    expect(refusal({ op: 'step.start', stepId, type: 'llm' }).message).toContain('is running');
    push({ op: 'step.end', stepId, status: 'completed' });
    expect(refusal({ op: 'step.start', stepId, type: 'llm' }).message).toContain('is completed');
    expect(refusal({ op: 'step.end', stepId, status: 'failed' }).message).toContain('is not running');
  });

  it('a step keeps the space as it was when it began', () => {
    const { live, push } = anAttempt();
    push(
      { op: 'space.set', key: 'k', value: { v: 1 } },
      { op: 'step.start', stepId: 'step-number-one-aa', type: 'llm' },
      { op: 'space.set', key: 'k', value: { v: 2 } },
    );
    expect(live.stepRecords()[0]?.step.spaceSnapshot).toEqual({ k: { v: 1 } });
    expect(live.steps.space()).toEqual({ k: { v: 2 } });
  });
});
