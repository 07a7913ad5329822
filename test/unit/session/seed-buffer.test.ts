import { describe, expect, it } from 'vitest';
import { parse, turnInput, type Message } from '../../../protocol/index.js';
import { inputRow } from '../../../server/session/input-row.js';
import { AT } from '../client/rows.js';
import { anAttempt, aRunningTurn, id, say } from './attempt.js';

/** Numbers of the seed design's own list for its buffer, as far as they are about messages (docs/seed-cases.md). */

const sequences = (messages: readonly Message[]): number[] => messages.map(({ sequence }) => sequence);
const contents = (messages: readonly Message[]): unknown[] => messages.map(({ props }) => props['content']);

/** An input as a person writes it, and the row that it becomes. */
const asked = (input: unknown): Message =>
  inputRow(aRunningTurn, parse(turnInput, input)[0]!, { messageId: id('input'), sequence: 1, at: AT });

describe('the seed list: messages of an attempt', () => {
  it('seed 1: a new attempt knows its chat, its turn and its assistant, and holds nothing', () => {
    const { live, held, steps } = anAttempt();
    expect([live.turn.chatId, live.requestId, live.turn.attempt]).toEqual(['chat-1', 'request-1', 1]);
    expect(live.root.place.assistantId).toBe('bot');
    expect([held(), steps(), live.steps.space(), live.bytes]).toEqual([[], [], {}, 0]);
  });

  it('seed 2: a message gets its id, its chat, its turn, its time and sequence 1', () => {
    const { push, held } = anAttempt();
    push(say('text', { content: 'Hello' }));
    expect(held()).toEqual([
      {
        messageId: 'an-id-made-by-the-server-1',
        chatId: 'chat-1',
        requestId: 'request-1',
        role: 'assistant',
        type: 'text',
        props: { content: 'Hello' },
        blockId: null,
        threadId: null,
        stepId: null,
        assistantId: 'bot',
        sequence: 1,
        state: 'open',
        metadata: null,
        createdAt: AT,
        updatedAt: AT,
      },
    ]);
  });

  it('seed 3: five messages, in one push or in five, stand 1 to 5', () => {
    const five = [1, 2, 3, 4, 5].map((n) => say('text', { content: `${n}` }));
    const [together, apart] = [anAttempt(), anAttempt()];
    together.push(...five);
    for (const one of five) apart.push(one);
    for (const { held } of [together, apart]) {
      expect(sequences(held())).toEqual([1, 2, 3, 4, 5]);
      expect(contents(held())).toEqual(['1', '2', '3', '4', '5']);
    }
  });

  it('seed 4: nothing in the place of a message is refused, and changes nothing', () => {
    const { push, refusal, held, state } = anAttempt();
    const before = state();
    for (const nothing of [null, undefined, {}, [], 'text', say('text', undefined)]) {
      expect(refusal(nothing).code).toBe('bad_request');
    }
    expect([held(), state()]).toEqual([[], before]);
    push(say('text', {}));
    expect(sequences(held())).toEqual([1]);
  });

  it('seed 5: an id that is given is kept, and is given once', () => {
    const { push, refusal, held } = anAttempt();
    push(say('text', {}, { messageId: id('mine') }));
    expect(held()[0]?.messageId).toBe(id('mine'));
    expect(refusal(say('text', {}, { messageId: id('mine') })).code).toBe('bad_request');
    expect(held()).toHaveLength(1);
  });

  it('seed 6: when a message was made is for the server to say', () => {
    const { push, held } = anAttempt();
    push(say('text', {}, { createdAt: '1999-12-31T23:59:59.000Z' }));
    expect(held()[0]?.createdAt).toBe(AT);
  });

  it('seed 7: what a person asks is a closed text with the role of a user and of no assistant', () => {
    expect(asked('What is the weather?')).toMatchObject({
      role: 'user',
      type: 'text',
      props: { content: 'What is the weather?' },
      state: 'closed',
      chatId: 'chat-1',
      requestId: 'request-1',
      assistantId: null,
      blockId: null,
      threadId: null,
    });
  });

  it('seed 8: a name beside the text is kept where the client put it', () => {
    const props = { content: 'Hi', name: 'Ann' };
    expect(asked({ type: 'user_input', props })).toMatchObject({ role: 'user', type: 'user_input', props });
  });

  it('seed 9: content of several parts stays a list of them', () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    expect(asked({ type: 'text', props: { content } }).props).toEqual({ content });
    expect(parse(turnInput, ['one', { type: 'image', props: { url: 'x' } }])).toHaveLength(2);
  });

  it('seed 10: an answer carries its id, block, thread, step, assistant and metadata', () => {
    const { push, held } = anAttempt();
    const [messageId, stepId] = [id('message'), id('step')];
    const metadata = { model: 'small', tokens: [3, 4] };
    push(
      { op: 'step.start', stepId, type: 'llm', assistantId: 'expert' },
      say('text', { content: 'x' }, { messageId, stepId, blockId: 'B1', threadId: 'T1', metadata }),
    );
    expect(held()[0]).toMatchObject({
      messageId,
      stepId,
      blockId: 'B1',
      threadId: 'T1',
      assistantId: 'expert',
      role: 'assistant',
      metadata,
    });
  });

  it('seed 11: a message of type event is passed on as a signal: not held, and it takes no sequence', () => {
    const { push, held } = anAttempt();
    const effects = push(say('event', { name: 'progress', percent: 50 }), say('text', { content: 'after' }));
    expect(effects[0]).toEqual({ kind: 'signal', name: 'progress', data: { name: 'progress', percent: 50 } });
    expect(held().map(({ type, sequence }) => [type, sequence])).toEqual([['text', 1]]);
  });

  it.each([
    ['12', 'retrieval', { query: 'q', sources: [{ id: 1, type: 'kb', score: 0.92 }], total_results: 1 }],
    ['13', 'tool_call', { id: 'call_1', name: 'get_weather', arguments: '{"city":"Kyiv"}' }],
    [
      '14',
      'custom_chart',
      { chart: 'bar', data: { labels: ['a', 'b'], values: [1, 2.5] }, options: { legend: false } },
    ],
  ])('seed %s: a %s is kept with its type and props as they came', (_, type, props) => {
    const { push, held } = anAttempt();
    push(say(type, props));
    expect(held()[0]).toMatchObject({ type, props });
  });

  it('seed 15: what was read stays as it was, and reading takes nothing', () => {
    const { push, held } = anAttempt();
    const messageId = id('message');
    push(say('text', { content: 'one' }, { messageId }));
    const first = held();
    push({ op: 'append', messageId, text: ' two' });
    expect(contents(first)).toEqual(['one']);
    first.length = 0;
    expect([contents(held()), contents(held())]).toEqual([['one two'], ['one two']]);
  });

  it('seed 16: without a message there is an empty list', () => {
    expect(anAttempt().held()).toEqual([]);
  });

  it('seed 38: props may be empty, and are never missing', () => {
    const { push, refusal, held } = anAttempt();
    for (const props of [null, undefined, [], 'text', 7]) {
      const error = refusal(say('text', props));
      expect([error.code, error.details['path']]).toEqual(['bad_request', 'ops.0.props']);
    }
    push(say('text', {}));
    expect(held()[0]?.props).toEqual({});
  });

  it('seed 39: whatever their type, twelve messages are kept in order', () => {
    const { push, held } = anAttempt();
    const types = [
      ...['text', 'thinking', 'loading', 'tool_call', 'tool_result', 'retrieval'],
      ...['error', 'image', 'audio', 'video', 'action', 'file'],
    ];
    push(...types.map((type) => say(type, { of: type })));
    expect(held().map(({ type, props, sequence }) => [type, props['of'], sequence])).toEqual(
      types.map((type, index) => [type, type, index + 1]),
    );
  });

  it('seed 44: three threads of one block, woven, keep their own texts', () => {
    const { push, held } = anAttempt();
    const threads = ['T1', 'T2', 'T3'];
    push(...threads.map((threadId) => say('text', {}, { messageId: id(threadId), blockId: 'B1', threadId })));
    for (const text of ['a', 'b', 'c']) {
      for (const threadId of threads) push({ op: 'append', messageId: id(threadId), text: `${threadId}${text} ` });
    }
    expect(held().map(({ blockId, threadId, props }) => [blockId, threadId, props['content']])).toEqual(
      threads.map((threadId) => ['B1', threadId, `${threadId}a ${threadId}b ${threadId}c `]),
    );
  });

  it('seed 45: two turns of one chat hold nothing of each other', () => {
    const [one, two] = [anAttempt(), anAttempt()];
    one.push(say('text', { content: 'one' }), { op: 'step.start', stepId: id('step'), type: 'llm' });
    one.push({ op: 'space.set', key: 'k', value: 1 });
    expect([two.held(), two.steps(), two.live.steps.space()]).toEqual([[], [], {}]);
    two.push(say('text', { content: 'two' }));
    expect([contents(one.held()), contents(two.held())]).toEqual([['one'], ['two']]);
  });
});

describe('the seed list: messages that stream', () => {
  /** An attempt with one open message. */
  function streaming(props: unknown) {
    const attempt = anAttempt();
    const messageId = id('message');
    attempt.push(say('text', props, { messageId }));
    return { ...attempt, messageId, append: (text: string) => ({ op: 'append', messageId, text }) };
  }

  it('seed 46: an open message can be read at every moment, with the text so far', () => {
    const { push, append, held } = streaming({ content: 'Initial ' });
    expect(held()[0]).toMatchObject({ state: 'open', props: { content: 'Initial ' } });
    push(append('Line 1\n'));
    push(append('Line 2\n'));
    expect(held()[0]).toMatchObject({ state: 'open', props: { content: 'Initial Line 1\nLine 2\n' } });
  });

  it('seed 46: closing keeps the text; nothing is appended after it, or to what is not there', () => {
    const { push, refusal, append, messageId, held } = streaming({ content: 'Hello ' });
    push(append('World!'), { op: 'end', messageId });
    for (const late of [append('?'), { op: 'end', messageId }, { op: 'set', messageId, path: 'content', value: '' }]) {
      expect(refusal(late).code).toBe('bad_request');
    }
    for (const op of [{ op: 'append', text: 'x' }, { op: 'end' }]) {
      expect(refusal({ ...op, messageId: id('nobody') }).code).toBe('bad_request');
    }
    expect(held()[0]).toMatchObject({ state: 'closed', props: { content: 'Hello World!' } });
  });

  it('seed 46: appending to props without content creates it; to content that is no text it is refused', () => {
    const { push, append, held } = streaming({});
    push(append('Content'));
    expect(held()[0]?.props).toEqual({ content: 'Content' });
    const other = streaming({ content: 7 });
    expect(other.refusal(other.append('x')).code).toBe('bad_request');
    expect(other.held()[0]?.props).toEqual({ content: 7 });
  });

  it('seed 46: a hundred appends of one character are a hundred characters', () => {
    const { push, append, held } = streaming({});
    for (let index = 0; index < 100; index++) push(append('x'));
    expect(held()[0]?.props['content']).toBe('x'.repeat(100));
  });

  it('seed 46: streamed and whole messages stand in the order in which they began', () => {
    const { push, append, messageId, held } = streaming({});
    push(say('text', { content: 'whole' }), append('streamed'), { op: 'end', messageId });
    push(say('event', { name: 'ping' }), say('text', { content: 'last' }));
    expect(sequences(held())).toEqual([1, 2, 3]);
    expect(contents(held())).toEqual(['streamed', 'whole', 'last']);
  });

  it('seed 46: what replaces, merges and sets is what is held in the end, not what was appended before', () => {
    const { push, append, messageId, held } = streaming({ content: 'Step 1' });
    push(append('…'), { op: 'replace', messageId, type: 'loading', props: { content: 'Step 2' } });
    push({ op: 'merge', messageId, value: { progress: { done: 1 } } });
    push({ op: 'merge', messageId, path: 'progress', value: { of: 2 } });
    push({ op: 'set', messageId, path: 'props.status', value: 'success' });
    expect(held()[0]).toMatchObject({
      type: 'loading',
      props: { content: 'Step 2', progress: { done: 1, of: 2 }, status: 'success' },
    });
  });
});
