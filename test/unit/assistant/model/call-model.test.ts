import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { callModel, type ModelCall } from '../../../../assistant/model/call-model.js';
import { toModelMessages, toolResults } from '../../../../assistant/model/model-messages.js';
import { openAiModel } from '../../../../assistant/model/openai-chat.js';
import { tool } from '../../../../assistant/tool.js';
import { callsTools, ModelServer, says, USAGE, type Answer } from '../../../harness/model-server.js';
import { RecordingContext } from './recording-context.js';

const KEY = 'sk-very-secret-0123456789';
const hello = [{ role: 'user' as const, content: 'Hello' }];

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string(), days: z.coerce.number().default(1) }),
  execute: ({ city, days }) => ({ city, days }),
});

async function scene(...answers: Answer[]) {
  const server = await ModelServer.start();
  server.answer(...answers);
  const ctx = new RecordingContext();
  const model = openAiModel({ baseUrl: server.url, apiKey: KEY, model: 'tiny' });
  const call = (more: Partial<ModelCall> = {}) => callModel(ctx, { model, messages: hello, ...more });
  return { server, ctx, call };
}

describe('one round with a model over HTTP', () => {
  it('streams its text into a message and counts tokens', async () => {
    const { server, ctx, call } = await scene(says('Good ', 'morning', '!'));
    const completion = await call({ instructions: 'Be kind.', settings: { temperature: 0.5 } });
    expect(completion).toEqual({
      content: 'Good morning!',
      reasoning: null,
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, reasoningTokens: 0, cachedInputTokens: 0 },
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Good morning!' }] }],
    });
    expect(JSON.parse(JSON.stringify(completion))).toEqual(completion);
    expect(ctx.deeds).toEqual(['send 0', 'append 0', 'append 0', 'end 0']);
    expect(ctx.shown).toEqual([['text', 'Good morning!']]);
    const { headers, body } = server.requests[0]!;
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(body).toMatchObject({ model: 'tiny', stream: true, temperature: 0.5 });
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
    ]);
  });

  it('shows reasoning and text as messages of their own, in the order in which they came', async () => {
    const { ctx, call } = await scene([
      { reasoning: 'Let me ' },
      { reasoning: 'think.' },
      { text: 'First.' },
      { reasoning: 'More?' },
      { text: 'Second.' },
      { finish: 'stop' },
      {
        usage: {
          ...USAGE,
          completion_tokens_details: { reasoning_tokens: 2 },
          prompt_tokens_details: { cached_tokens: 5 },
        },
      },
    ]);
    const completion = await call();
    expect(ctx.shown).toEqual([
      ['thinking', 'Let me think.'],
      ['text', 'First.'],
      ['thinking', 'More?'],
      ['text', 'Second.'],
    ]);
    expect(ctx.states).toEqual(['closed', 'closed', 'closed', 'closed']);
    expect(completion).toMatchObject({ content: 'First.Second.', reasoning: 'Let me think.More?' });
    expect(completion.usage).toMatchObject({ reasoningTokens: 2, cachedInputTokens: 5 });
  });

  it('keeps an emoji whole, however it is cut: within its bytes, within its pair, and at the first delta', async () => {
    const { ctx, call } = await scene([
      { text: '\ud83d' },
      { text: '\ude00 a' },
      { text: 'b 👋', splitBytes: true },
      { text: '\ud83d' },
      { text: '\ude80' },
      { text: 'end \ud83d' },
      { finish: 'stop' },
    ]);
    const completion = await call();
    expect(ctx.shown).toEqual([['text', '😀 ab 👋🚀end \ufffd']]);
    expect(completion.content).toBe('😀 ab 👋🚀end \ufffd');
    expect(completion.usage).toBeNull();
    expect(completion.messages).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: '😀 ab 👋🚀end \ufffd' }] },
    ]);
  });

  it('shows nothing for white space without a word', async () => {
    const { ctx, call } = await scene([{ text: '\n\n' }, ...callsTools({ id: 'a', name: 'weather', args: {} })]);
    await call({ tools: { weather } });
    expect(ctx.deeds).toEqual([]);
    const later = await scene(says('\n', '\n', 'word'));
    await later.call();
    expect(later.ctx.shown).toEqual([['text', '\n\nword']]);
  });

  it('returns tool calls as the model wrote them, executes nothing, and takes the results in the next round', async () => {
    const { server, ctx, call } = await scene(
      [{ text: 'Let me see.' }, ...callsTools({ id: 'call-1', name: 'weather', args: { city: 'Bern', days: '2' } })],
      says('Sunny.'),
    );
    const first = await call({ tools: { weather } });
    expect(first.finishReason).toBe('tool-calls');
    expect(first.toolCalls).toEqual([
      { toolCallId: 'call-1', tool: 'weather', input: { city: 'Bern', days: '2' }, error: null },
    ]);
    expect(server.requests[0]!.body['tools']).toMatchObject([
      { type: 'function', function: { name: 'weather', description: 'The weather in a city.' } },
    ]);

    const results = toolResults([{ toolCallId: 'call-1', tool: 'weather', output: { sky: 'clear' } }]);
    const stored = JSON.parse(JSON.stringify([...hello, ...first.messages, results])) as typeof hello;
    await call({ tools: { weather }, messages: stored });
    expect(server.requests[1]!.body.messages).toMatchObject([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Let me see.', tool_calls: [{ id: 'call-1', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'call-1', content: '{"sky":"clear"}' },
    ]);
    expect(ctx.shown).toEqual([
      ['text', 'Let me see.'],
      ['text', 'Sunny.'],
    ]);
  });

  it('says of each bad tool call what is wrong with it, and leaves the answer to the caller', async () => {
    const { call } = await scene(
      callsTools(
        { id: 'a', name: 'nothing', args: {} },
        { id: 'b', name: 'weather', args: { city: 4 } },
        { id: 'c', name: 'weather', args: '{"city":' },
        { id: 'd', name: 'weather', args: '{"city":"x","prototype":{}}' },
        { id: 'e', name: 'weather', args: `{"city":${'['.repeat(60)}${']'.repeat(60)}}` },
        { id: 'f', name: 'constructor', args: {} },
        { id: 'g', name: 'weather', args: { city: 'Bern' } },
      ),
    );
    const { toolCalls, messages } = await call({ tools: { weather } });
    expect(toolCalls.map(({ error }) => error)).toEqual([
      'There is no tool "nothing". The tools are: weather.',
      expect.stringContaining('expected string, received number'),
      'The input is not JSON.',
      expect.stringContaining('cannot be kept'),
      expect.stringContaining('cannot be kept'),
      'There is no tool "constructor". The tools are: weather.',
      null,
    ]);
    expect(messages).toHaveLength(1);
    const parts = (messages[0] as { content: { type: string; toolCallId: string }[] }).content;
    expect(parts.map(({ type, toolCallId }) => [type, toolCallId])).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => ['tool-call', id]),
    );
  });

  it('passes the URLs of images on and fetches none of them', async () => {
    const private_ = await ModelServer.start();
    const { server, call } = await scene(says('A cat.'));
    const image = `${private_.url}/secret.png`;
    await call({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', data: image, mediaType: 'image' },
            { type: 'file', data: `${private_.url}/secret.pdf`, mediaType: 'application/pdf', filename: 'secret.pdf' },
          ],
        },
      ],
    });
    expect(private_.connections).toBe(0);
    expect(server.requests[0]!.body.messages[0]!['content']).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: image } },
      { type: 'text', text: `[application: secret.pdf: ${private_.url}/secret.pdf]` },
    ]);
  });

  it('is not failed by a file of whatever kind that stands in the chat', async () => {
    const { server, call } = await scene();
    server.fallback = says('Fine.');
    const kinds = [
      'image/png',
      'application/pdf',
      'application/zip',
      'audio/ogg',
      'audio/wav',
      'text/csv',
      'video/mp4',
    ];
    for (const mediaType of [...kinds, 'x/y']) {
      for (const url of ['https://files.example/a', `data:${mediaType};base64,QUJD`]) {
        const messages = toModelMessages([{ type: 'file', props: { url, mediaType, filename: 'a' } }]);
        await expect(call({ messages })).resolves.toMatchObject({ content: 'Fine.' });
      }
    }
  });

  it('ends with the turn, and so does the request', async () => {
    const { server, ctx, call } = await scene([{ text: 'Well' }, { hold: true }]);
    const running = call();
    await server.holds();
    await expect.poll(() => ctx.shown).toEqual([['text', 'Well']]);
    ctx.abort.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    await expect.poll(() => server.answering).toBe(0);
    expect(server.requests).toHaveLength(1);
    expect(ctx.deeds).toEqual(['send 0']);
  });
});

describe("a round with the SDK's mock model", () => {
  const usage = {
    inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined },
  };
  type Part =
    Extract<Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'], object> extends ReadableStream<infer P>
      ? P
      : never;
  const mock = (...parts: Part[]) =>
    new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<Part>({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      }),
    });
  const finish = (unified: 'stop' | 'content-filter' | 'error' | 'length'): Part => ({
    type: 'finish',
    usage,
    finishReason: { unified, raw: unified },
  });

  it('keeps what a provider wants back, as JSON', async () => {
    const ctx = new RecordingContext();
    const providerMetadata = { anthropic: { signature: 'c2lnbmVk' } };
    const { messages, reasoning } = await callModel(ctx, {
      model: mock(
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata },
        { type: 'text-start', id: '1' },
        { type: 'text-start', id: '2' },
        { type: 'text-delta', id: '2', delta: 'two' },
        { type: 'text-delta', id: '1', delta: 'one' },
        finish('length'),
      ),
      messages: hello,
    });
    expect(reasoning).toBe('Hm.');
    expect(messages[0]).toMatchObject({
      content: [{ type: 'reasoning', text: 'Hm.', providerOptions: providerMetadata }, {}, {}],
    });
    expect(ctx.shown.map(([, text]) => text)).toEqual(['Hm.', 'two', 'one']);
    expect(ctx.states).toEqual(['closed', 'closed', 'closed']);
  });

  it.each([
    ['a filter that left nothing', [finish('content-filter')], false, /content filter/],
    ['an end with an error', [finish('error')], true, /ended with an error/],
    [
      'no end',
      [{ type: 'text-start', id: 't' } as const, { type: 'text-delta', id: 't', delta: 'x' } as const],
      true,
      /middle/,
    ],
    ['nothing at all', [], true, /model/],
  ] as [string, Part[], boolean, RegExp][])('refuses %s', async (_, parts, retryable, message) => {
    const ctx = new RecordingContext();
    const model = mock(...parts);
    const failed = callModel(ctx, { model, messages: hello });
    await expect(failed).rejects.toMatchObject({ name: 'ModelError', code: 'model_error', retryable });
    await expect(failed).rejects.toThrow(message);
    expect(model.doStreamCalls).toHaveLength(retryable ? 3 : 1);
  });

  it('takes a model that is made when it is needed', async () => {
    const ctx = new RecordingContext();
    await expect(
      callModel(ctx, { model: () => Promise.resolve(mock(finish('stop'))), messages: hello }),
    ).resolves.toMatchObject({
      content: '',
      messages: [],
    });
  });

  it('says clearly when the messages are none', async () => {
    const ctx = new RecordingContext();
    const failed = callModel(ctx, { model: mock(finish('stop')), messages: [{ role: 'nobody' }] });
    await expect(failed).rejects.toMatchObject({ name: 'ModelError', retryable: false });
  });
});
