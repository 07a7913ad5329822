import { describe, expect, test } from 'vitest';
import { turnRow } from '../client/rows.js';
import { asked, clientWith, question, RUN, ScriptedChat, told, trueState, truth } from './ag-ui-chat.js';

const usage = { inputTokens: 12, outputTokens: 3 };

/** One turn of each sort, and of each end. */
const scripts: Readonly<Record<string, (chat: ScriptedChat) => void>> = {
  'a text': (chat) => {
    const id = chat.send('text', { content: '' });
    chat.append(id, 'Hel');
    chat.append(id, 'lo 🌍');
    chat.close(id);
    chat.end({ status: 'completed', usage });
  },
  'several texts at once': (chat) => {
    const [one, two] = [
      chat.send('text', { content: 'a' }),
      chat.send('text', { content: '' }, { assistantId: 'bee' }),
    ];
    chat.append(two, 'b');
    chat.append(one, 'c');
    chat.close(one);
    chat.append(two, 'd');
    chat.end();
  },
  'thinking before a text': (chat) => {
    const thought = chat.send('thinking', { content: 'Hm' });
    chat.append(thought, ', well');
    chat.close(thought);
    chat.append(chat.send('text', { content: '' }), 'Yes.');
    chat.end();
  },
  'a tool call with its result': (chat) => {
    const step = chat.startStep({ type: 'tool' });
    const id = chat.send('tool_call', { toolCallId: 'c1', tool: 'weather', input: { city: 'Bern' }, state: 'running' });
    chat.emit({ type: 'message.merged', messageId: id, path: '', value: { output: { celsius: 1 } } });
    chat.emit({
      type: 'message.merged',
      messageId: id,
      path: '',
      value: { state: 'completed', output: { celsius: 2 } },
    });
    chat.close(id);
    chat.endStep(step);
    chat.end();
  },
  'a tool call whose arguments are streamed': (chat) => {
    const id = chat.send('tool_call', { tool: 'weather', input: '' });
    chat.append(id, '{"city":', 'input');
    chat.append(id, '"Bern"}', 'input');
    chat.emit({ type: 'message.set', messageId: id, path: 'error', value: 'no such city' });
    chat.close(id);
    chat.end();
  },
  'a tool call that nothing comes of': (chat) => {
    chat.send('tool_call', { tool: 'askUser', input: { question: 'Really?' } });
    chat.end();
  },
  'arguments that are changed': (chat) => {
    const id = chat.send('tool_call', { tool: 'search', input: { q: 'a' } });
    chat.emit({ type: 'message.set', messageId: id, path: 'input.q', value: 'b' });
    chat.emit({ type: 'message.set', messageId: id, path: 'output', value: [] });
    chat.close(id);
    chat.end();
  },
  'other types': (chat) => {
    const table = chat.send('table', { rows: [{ text: '' }], 'a/b~c': { kept: true } });
    chat.append(table, 'one', 'rows.0.text');
    chat.append(table, ' more', 'rows.0.text');
    chat.emit({
      type: 'message.merged',
      messageId: table,
      path: '',
      value: { rows: [{ text: 'new' }, { text: 'two' }] },
    });
    chat.emit({ type: 'message.set', messageId: table, path: 'a/b~c.kept', value: null });
    chat.emit({ type: 'message.replaced', messageId: table, messageType: 'table', props: { rows: [1] } });
    chat.send('image', { url: 'https://example.org/a.png' }, { state: 'closed' });
    chat.emit({
      type: 'message.replaced',
      messageId: chat.send('loading', { message: 'wait', done: false }),
      messageType: 'error',
      props: { message: 'no' },
    });
    chat.end();
  },
  'a state that is shared': (chat) => {
    const id = chat.send('state', { draft: '', items: [] });
    const text = chat.send('text', { content: 'Writing' });
    chat.append(id, 'Dear', 'draft');
    chat.append(id, ' Ann', 'draft');
    chat.emit({ type: 'message.set', messageId: id, path: 'items.0', value: { done: false } });
    chat.append(text, ' to Ann');
    chat.emit({ type: 'message.merged', messageId: id, path: 'items.0', value: { done: true } });
    chat.close(id);
    chat.send('state', { draft: null }, { state: 'closed' });
    chat.end();
  },
  'a text that is rewritten': (chat) => {
    const other = chat.send('thinking', { content: 'first' });
    const id = chat.send('text', { content: 'Helo' });
    chat.emit({ type: 'message.replaced', messageId: id, messageType: 'text', props: { content: 'Hello' } });
    chat.append(id, ', you');
    chat.append(other, ', second');
    chat.emit({ type: 'message.replaced', messageId: id, messageType: 'text', props: { content: 'Hello, you there' } });
    chat.emit({ type: 'message.replaced', messageId: id, messageType: 'card', props: { title: 'Hello' } });
    chat.end();
  },
  'a message that is taken away': (chat) => {
    const kept = chat.send('text', { content: 'kept' });
    const lost = chat.send('text', { content: 'lost' });
    const board = chat.send('board', { n: 1 });
    chat.emit({ type: 'message.deleted', messageIds: [lost] });
    chat.append(kept, ' on');
    chat.emit({ type: 'message.deleted', messageIds: [board] });
    chat.end();
  },
  'an edit of what is closed': (chat) => {
    const id = chat.send('text', { content: 'done' }, { state: 'closed' });
    const message = chat.view.messages.find(({ messageId }) => messageId === id)!;
    chat.emit({ type: 'message.updated', message: { ...message, props: { content: 'edited' } } });
    chat.end();
  },
  'steps in steps, and another assistant': (chat) => {
    const outer = chat.startStep({ type: 'hook_create' });
    const call = chat.startStep({ type: 'delegate', metadata: { childStackId: 'stack-2' } });
    const inner = chat.startStep({ stackId: 'stack-2', stackParentId: 'stack-1', stackDepth: 1, assistantId: 'bee' });
    chat.send('text', { content: 'from bee' }, { assistantId: 'bee', state: 'closed' });
    chat.endStep(inner);
    chat.endStep(call);
    const again = chat.startStep({ type: 'delegate', metadata: { childStackId: 'stack-2' } });
    chat.emit({ type: 'step.started', step: { ...chat.view.steps.get(inner)!, status: 'running' } });
    chat.endStep(again);
    chat.endStep(outer);
    chat.end();
  },
  'stopped in the middle': (chat) => {
    chat.startStep();
    chat.append(chat.send('text', { content: '' }), 'half');
    chat.end({ status: 'interrupted', stopReason: 'stopped' });
  },
  'failed in the middle': (chat) => {
    chat.append(chat.send('text', { content: '' }), 'half');
    chat.end({ status: 'failed', stopReason: 'error', error: { code: 'boom', message: 'It broke.' } });
  },
  'lost with its agent': (chat) => {
    chat.end({ status: 'interrupted', stopReason: 'agent_lost' });
  },
};

describe.each(Object.entries(scripts))('AG-UI: %s', (name, script) => {
  const chat = new ScriptedChat();
  script(chat);
  const cuts = chat.views.map((_, cut) => cut);

  test('the stock client hears it to its end, and holds what the chat holds', async () => {
    const events = told(chat, 'asks');
    expect(events.map((event) => JSON.stringify(event)).join('\n')).toMatchSnapshot();
    const client = clientWith(question);
    await client.hear(events, 'asks');
    expect(client.messages).toEqual(truth(chat));
    expect(client.state).toEqual(trueState(chat));
  });

  test('cut after every single event and joined again, it comes to the same', async () => {
    for (const cut of cuts) {
      const client = clientWith(question);
      await client.hear(told(chat, 'asks', { until: cut }), 'asks');
      await client.hear(told(chat, 'joins', { cut, body: client.body() }), 'joins');
      expect(client.messages, `${name}, cut after ${cut} events`).toEqual(truth(chat));
      expect(client.state).toEqual(trueState(chat));
    }
  });

  test('joined at every moment by a client that holds nothing, it comes to the same', async () => {
    for (const cut of cuts) {
      const client = clientWith();
      await client.hear(told(chat, 'joins', { cut, body: client.body() }), 'joins');
      expect(client.messages, `${name}, joined after ${cut} events`).toEqual(truth(chat));
      expect(client.state).toEqual(trueState(chat));
    }
  });

  test('asked for and told late, it comes to the same', async () => {
    for (const cut of cuts) {
      const client = clientWith(question);
      await client.hear(told(chat, 'asks', { cut }), 'asks');
      expect(client.messages, `${name}, told after ${cut} events`).toEqual(truth(chat));
      expect(client.state).toEqual(trueState(chat));
    }
  });

  test('one run, which ends once', () => {
    for (const cut of cuts) {
      for (const how of ['asks', 'joins'] as const) {
        const types = told(chat, how, { cut }).map(({ type }) => type);
        expect(types[0]).toBe('RUN_STARTED');
        expect(types.filter((type) => /^RUN_/.test(type))).toHaveLength(2);
        expect(types.at(-1)).toMatch(/^RUN_(FINISHED|ERROR)$/);
      }
    }
  });
});

test('AG-UI: what others say meanwhile comes at the end of the run', async () => {
  const chat = new ScriptedChat();
  const id = chat.send('text', { content: 'mine' });
  const theirs = chat.send('text', { content: 'their' }, { requestId: 'run-2' });
  chat.append(theirs, 's');
  chat.close(id);
  chat.close(theirs);
  chat.end();
  const client = clientWith(question);
  const events = told(chat, 'asks');
  await client.hear(events, 'asks');
  expect(client.messages).toEqual(truth(chat));
  expect(client.state).toEqual(trueState(chat));
  expect(events.map(({ type }) => type).slice(-2)).toEqual(['MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
});

test('AG-UI: a client that lacks something is told the conversation first; one that holds it is not', async () => {
  const earlier = [
    asked('earlier'),
    { ...asked(), messageId: 'm2', sequence: 2, requestId: 'run-0', role: 'assistant' as const },
  ];
  const chat = new ScriptedChat([...earlier, { ...asked(), messageId: 'm3', sequence: 3 }]);
  chat.append(chat.send('text', { content: '' }), 'answer');
  chat.end();
  const behind = clientWith(question);
  await behind.hear(told(chat, 'asks', { body: behind.body() }), 'asks');
  expect(behind.messages).toEqual(truth(chat));
  expect(behind.seen.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
  const before = chat.view.messages.map((message) => ({ ...message, requestId: 'run-0' }));
  const next = new ScriptedChat([...before, { ...asked('asked-2'), messageId: 'm5', sequence: 5 }], turnRow(RUN));
  behind.addMessage({ ...question, id: 'asked-2' });
  const body = behind.body();
  expect(told(next, 'asks', { body }).map(({ type }) => type)).not.toContain('MESSAGES_SNAPSHOT');
});

test('AG-UI: before 1.0 there is no cancelled outcome', () => {
  const chat = new ScriptedChat();
  chat.end({ status: 'interrupted', stopReason: 'stopped' });
  expect(told(chat, 'asks').at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  const old = told(chat, 'asks', { isOne: false });
  expect(old[0]).toEqual({ type: 'RUN_STARTED', threadId: 'chat-1', runId: RUN });
  expect(old.at(-1)).toMatchObject({ type: 'RUN_FINISHED', metadata: { stopReason: 'stopped' } });
  expect(old.at(-1)).not.toHaveProperty('outcome');
});

test('AG-UI: a long text in an activity is not told anew with every word, and whole in the end', async () => {
  const chat = new ScriptedChat();
  const id = chat.send('artifact', { code: '', name: 'a' });
  for (let line = 0; line < 400; line++) chat.append(id, `${line}`.padEnd(99, '.'), 'code');
  chat.emit({ type: 'message.set', messageId: id, path: 'name', value: 'b' });
  chat.append(id, 'the end', 'code');
  chat.end();
  const client = clientWith(question);
  const events = told(chat, 'asks');
  await client.hear(events, 'asks');
  expect(client.messages).toEqual(truth(chat));
  expect(JSON.stringify(events).length).toBeLessThan(400 * 99 * 13);
  for (const cut of [1, 100, 250, 399, 401, 402]) {
    const again = clientWith(question);
    await again.hear(told(chat, 'asks', { until: cut }), 'asks');
    await again.hear(told(chat, 'joins', { cut, body: again.body() }), 'joins');
    expect(again.messages, `cut after ${cut} events`).toEqual(truth(chat));
  }
});

test('AG-UI: an input that is being written is not told anew with every word, and whole in the end', async () => {
  const chat = new ScriptedChat();
  const id = chat.send('tool_call', { tool: 'write', toolCallId: 'c1', inputText: '', state: 'running' });
  for (let line = 0; line < 400; line++) chat.append(id, `${line}`.padEnd(99, '.'), 'inputText');
  const input = { file: 'x'.repeat(400 * 99) };
  chat.emit({ type: 'message.set', messageId: id, path: 'input', value: input });
  chat.emit({ type: 'message.merged', messageId: id, path: '', value: { state: 'completed', output: 'written' } });
  chat.close(id);
  chat.end();
  const client = clientWith(question);
  const events = told(chat, 'asks');
  await client.hear(events, 'asks');
  expect(client.messages).toEqual(truth(chat));
  expect(JSON.stringify(events).length).toBeLessThan(2 * 400 * 99);
});
