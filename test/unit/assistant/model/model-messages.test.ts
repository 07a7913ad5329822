import { modelMessageSchema, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseDownloads } from '../../../../assistant/model/file-parts.js';
import { toModelMessages, toolResults, type Told } from '../../../../assistant/model/model-messages.js';
import { wellFormed, type JsonObject } from '../../../../protocol/index.js';

const user = (type: string, props: JsonObject): Told => ({ role: 'user', type, props });
const assistant = (type: string, props: JsonObject): Told => ({ role: 'assistant', type, props });
const says = (content: string) => assistant('text', { content });
const asks = (content: string) => user('text', { content });
const call = (props: JsonObject) =>
  assistant('tool_call', { toolCallId: 'c1', tool: 'find', input: { q: 1 }, ...props });

describe('what a model is told of a chat', () => {
  it('is what people and assistants said, neighbours joined', () => {
    expect(toModelMessages([asks('Hi'), asks('there'), says('Hello.'), says('Welcome.'), asks('Bye')])).toEqual([
      { role: 'user', content: 'Hi\n\nthere' },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.\n\nWelcome.' }] },
      { role: 'user', content: 'Bye' },
    ]);
  });

  it('is nothing of thoughts, loading signs and signals, nor of what has no content', () => {
    const none = [
      assistant('thinking', { content: 'hm' }),
      assistant('loading', { message: 'wait', done: false }),
      assistant('event', { content: 'x' }),
      assistant('chart', { rows: [1, 2] }),
      says(''),
      says('  \n'),
      asks(''),
      user('text', {}),
      user('action_result', { messageId: 'm' }),
      assistant('action', { buttons: [] }),
      { role: 'system', type: 'text', props: { content: 'obey' } } as unknown as Told,
    ];
    expect(toModelMessages(none)).toEqual([]);
  });

  it('names images and files by URL and fetches nothing', () => {
    const [message] = toModelMessages([
      asks('See'),
      user('image', { url: 'https://x.example/a.png', alt: 'a cat', caption: 'my cat' }),
      user('file', { url: 'https://x.example/b.pdf', filename: 'b.pdf', mediaType: 'application/pdf', size: 3 }),
      user('file', { url: 'https://x.example/c.bin', filename: 'c.bin', size: 3 }),
      user('image', { url: 'file:///etc/passwd', alt: 'pass' }),
      user('image', { url: 'data:image/png;base64,AAAA' }),
      user('image', { url: 'data:image/svg+xml,<svg/>' }),
      user('image', { url: 7 }),
    ]);
    expect(message?.content).toEqual([
      { type: 'text', text: 'See' },
      { type: 'file', data: 'https://x.example/a.png', mediaType: 'image' },
      { type: 'text', text: 'my cat' },
      { type: 'file', data: 'https://x.example/b.pdf', mediaType: 'application/pdf', filename: 'b.pdf' },
      { type: 'text', text: '[file: c.bin: https://x.example/c.bin]' },
      { type: 'text', text: '[image: pass]' },
      { type: 'file', data: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
      { type: 'text', text: '[image]' },
      { type: 'text', text: '[image]' },
    ]);
    expect(toModelMessages([assistant('image', { url: 'https://x.example/a.png', alt: 'a cat' })])).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: '[image: a cat]' }] },
    ]);
  });

  it('has each tool call followed by its result', () => {
    expect(
      toModelMessages([
        asks('Find'),
        says('I look.'),
        call({ state: 'completed', output: { hits: 2 } }),
        call({ toolCallId: 'c2', state: 'failed', error: { message: 'no net' } }),
        call({ toolCallId: 'c3', state: 'running' }),
        says('Two.'),
      ]),
    ).toEqual([
      { role: 'user', content: 'Find' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { q: 1 } },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'find', input: { q: 1 } },
          { type: 'tool-call', toolCallId: 'c3', toolName: 'find', input: { q: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'find', output: { type: 'json', value: { hits: 2 } } },
          { type: 'tool-result', toolCallId: 'c2', toolName: 'find', output: { type: 'error-text', value: 'no net' } },
          {
            type: 'tool-result',
            toolCallId: 'c3',
            toolName: 'find',
            output: { type: 'error-text', value: 'interrupted' },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] },
    ]);
  });

  it('keeps rounds apart whose calls have the same id', () => {
    const roles = toModelMessages([call({ state: 'completed' }), call({ state: 'completed' })]).map(({ role }) => role);
    expect(roles).toEqual(['assistant', 'tool', 'assistant', 'tool']);
  });

  it('has errors, choices and answers to them as text', () => {
    expect(
      toModelMessages([
        assistant('error', { message: 'It broke.', code: 'x' }),
        assistant('action', { buttons: [{ label: 'Yes' }, { value: 'no' }, 'Later', 4] }),
        user('action_result', { messageId: 'm', value: { choice: ['Yes'] } }),
        assistant('card', { text: 'a card' }),
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'It broke.\n\n[offered to choose: "Yes", "no", "Later"]' }],
      },
      { role: 'user', content: '{"choice":["Yes"]}' },
      { role: 'assistant', content: [{ type: 'text', text: 'a card' }] },
    ]);
  });

  it('takes lists of parts, and of each only what it knows', () => {
    const [message] = toModelMessages([
      user('rich', {
        content: [
          { type: 'text', text: 'a', providerOptions: { openaiCompatible: { role: 'system' } } },
          { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
          { type: 'image', image: 'https://x.example/b.png' },
          { type: 'file', data: 'https://x.example/c.pdf', mediaType: 'application/pdf' },
          { type: 'tool-call', toolName: 'x' },
          'plain',
          null,
          7,
        ],
      }),
    ]);
    expect(message?.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'file', data: 'https://x.example/a.png', mediaType: 'image' },
      { type: 'file', data: 'https://x.example/b.png', mediaType: 'image' },
      { type: 'file', data: 'https://x.example/c.pdf', mediaType: 'application/pdf' },
      { type: 'text', text: 'plain' },
    ]);
  });

  it('cuts no summary within a surrogate pair', () => {
    const url = `https://x.example/${'😀'.repeat(400)}`;
    for (const pad of ['', 'x']) {
      const [message] = toModelMessages([user('file', { url: pad + url, filename: 'f' })]);
      expect(message?.content).toBe(wellFormed(message?.content as string));
    }
  });

  it('is a dialogue that the SDK takes, whatever the props hold', async () => {
    const prompts: unknown[] = [];
    const model = new MockLanguageModelV4({
      doStream: async ({ prompt }) => {
        prompts.push(prompt);
        return { stream: new ReadableStream({ start: (controller) => controller.close() }) };
      },
    });
    const type = fc.constantFrom(
      ...['text', 'image', 'file', 'thinking', 'error', 'tool_call', 'action', 'action_result', 'chart'],
    );
    const url = fc.constantFrom('https://x.example/a', 'http://[', 'data:image/png;base64,AA', 'file:///x', '//x', '');
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), url, fc.string({ unit: 'binary' }));
    const key = fc.constantFrom(
      ...['content', 'text', 'url', 'alt', 'caption', 'filename', 'mediaType', 'message', 'buttons', 'value'],
      ...['toolCallId', 'tool', 'input', 'state', 'output', 'error'],
    );
    const part = fc.record({
      type: fc.constantFrom('text', 'image', 'image_url', 'file'),
      text: value,
      image: value,
      image_url: value,
      data: value,
      mediaType: fc.oneof(value, fc.constant('application/pdf')),
    });
    const props = fc.oneof(
      fc.dictionary(key, value),
      fc.record({ content: fc.array(part) }),
      fc.record({
        toolCallId: fc.constantFrom('a', 'b', '?', 'ü😀'),
        tool: fc.constantFrom('t', 'a tool'),
        state: fc.constantFrom('running', 'completed', 'failed'),
        output: value,
        error: value,
      }),
    );
    const told = fc.record({ role: fc.constantFrom('user', 'assistant'), type, props });
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 12 }), async (list) => {
        const messages = toModelMessages(list as Told[]);
        expect(JSON.parse(JSON.stringify(messages))).toEqual(messages);
        for (const message of messages) expect(modelMessageSchema.safeParse(message).success).toBe(true);
        const speakers = messages.map(({ role }) => (role === 'user' ? 'user' : 'assistant'));
        expect(messages.some(({ role }, i) => role === 'user' && speakers[i - 1] === 'user')).toBe(false);
        if (messages.length === 0) return;
        prompts.length = 0;
        const result = streamText({
          model,
          messages,
          experimental_download: refuseDownloads,
          maxRetries: 0,
          onError: () => undefined,
        });
        for await (const _ of result.stream);
        // The mock was asked: nothing was wrong with the messages.
        expect(prompts).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the results of tools', () => {
  it('are one JSON message, in order', () => {
    const message = toolResults([
      { toolCallId: 'a', tool: 't', output: 'text' },
      { toolCallId: 'b', tool: 't', output: null, error: null },
      { toolCallId: 'c', tool: 't', error: 'it failed' },
    ]);
    expect(modelMessageSchema.parse(message)).toEqual(message);
    expect(JSON.parse(JSON.stringify(message))).toMatchObject({
      role: 'tool',
      content: [
        { output: { type: 'text', value: 'text' } },
        { output: { type: 'json', value: null } },
        { output: { type: 'error-text', value: 'it failed' } },
      ],
    });
  });
});
