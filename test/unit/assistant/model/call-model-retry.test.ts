import { describe, expect, it } from 'vitest';
import { callModel, type ModelCall } from '../../../../assistant/model/call-model.js';
import { openAiModel } from '../../../../assistant/model/openai-chat.js';
import { callsTools, fails, ModelServer, says, type Answer } from '../../../harness/model-server.js';
import { RecordingContext } from './recording-context.js';

const KEY = 'very-secret-0123456789';
const messages = [{ role: 'user' as const, content: 'Hello' }];

async function scene(...answers: Answer[]) {
  const server = await ModelServer.start();
  server.answer(...answers);
  const ctx = new RecordingContext();
  const model = openAiModel({ baseUrl: server.url, apiKey: KEY, model: 'tiny' });
  const call = (more: Partial<ModelCall> = {}) => callModel(ctx, { model, messages, ...more });
  return { server, ctx, call };
}

describe('a model that fails', () => {
  it('is asked again after as long as it asks for', async () => {
    const { server, ctx, call } = await scene(
      fails(429, 'slow down', { 'retry-after': '2' }),
      fails(503, 'busy', { 'retry-after-ms': '700' }),
      says('At last.'),
    );
    await expect(call()).resolves.toMatchObject({ content: 'At last.' });
    expect(server.requests).toHaveLength(3);
    expect(ctx.waits.filter((ms) => ms !== 30_000)).toEqual([2000, 700]);
    expect(ctx.deeds).toEqual(['send 0', 'end 0']);
  });

  it.each([
    [400, 'no such model', false, 1],
    [401, 'bad key', false, 1],
    [429, 'slow down', true, 3],
    [500, 'oops', true, 3],
  ])(
    'with %i is given up with its words after as many tries as make sense',
    async (status, words, retryable, tries) => {
      const { server, call } = await scene();
      server.fallback = fails(status, words);
      await expect(call()).rejects.toMatchObject({
        name: 'ModelError',
        code: 'model_error',
        message: `The model failed (${status}): ${words}`,
        status,
        retryable,
      });
      expect(server.requests).toHaveLength(tries);
    },
  );

  it('is not waited for when it asks for an hour', async () => {
    const { server, call } = await scene(fails(429, 'quota', { 'retry-after': '3600' }), says('never'));
    await expect(call()).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    expect(server.requests).toHaveLength(1);
  });

  it('tells no key, no header and no prompt', async () => {
    const { call } = await scene({
      status: 401,
      headers: { 'x-internal': 'header-value' },
      body: { error: { message: `Incorrect API key ${KEY}; also sk-proj-abcdef123456 and Bearer abcdef123456` } },
    });
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown as Error,
    );
    expect(error?.message).toBe(
      'The model failed (401): Incorrect API key [redacted]; also [redacted] and Bearer [redacted]',
    );
    expect(error?.cause).toBeUndefined();
    const everything = JSON.stringify(error, Object.getOwnPropertyNames(error));
    for (const secret of [KEY, 'header-value', 'Hello', 'abcdef123456']) expect(everything).not.toContain(secret);
  });

  it('that nobody listens for is a connection error, retried', async () => {
    const { server, ctx, call } = await scene();
    server.close();
    await expect(call()).rejects.toMatchObject({
      retryable: true,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(ctx.waits.filter((ms) => ms !== 30_000)).toEqual([250, 500]);
  });

  it('with an error in the middle of its stream is asked again', async () => {
    const { ctx, call } = await scene(
      [{ text: 'Half' }, { event: { error: { message: 'overloaded', type: 'server_error', code: 503 } } }],
      says('Whole.'),
    );
    await expect(call()).resolves.toMatchObject({ content: 'Whole.' });
    expect(ctx.shown).toEqual([['text', 'Whole.']]);
  });

  it.each([
    ['whose connection is cut', [{ text: 'Half' }, { cut: true }]],
    ['whose stream just ends', [{ text: 'Half' }, { close: true }]],
    ['that sends no JSON', [{ text: 'Half' }, { raw: 'data: <html>oops\n\n' }, { close: true }]],
  ] as [string, Answer][])('%s is asked again, and nothing stands twice', async (_, broken) => {
    const { server, ctx, call } = await scene(broken, says('Who', 'le.'));
    const { messages: next } = await call();
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]!.body).toEqual(server.requests[0]!.body);
    expect(ctx.shown).toEqual([['text', 'Whole.']]);
    expect(ctx.deeds).toEqual(['send 0', 'replace 0', 'append 0', 'end 0']);
    expect(next).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Whole.' }] }]);
  });

  it('leaves what it said last when it is given up', async () => {
    const { server, ctx, call } = await scene(
      [{ reasoning: 'Hm' }, { text: 'Half 1' }, { cut: true }],
      [{ cut: true }],
    );
    server.fallback = fails(400, 'enough');
    await expect(call()).rejects.toMatchObject({ status: 400 });
    expect(ctx.shown).toEqual([
      ['thinking', 'Hm'],
      ['text', 'Half 1'],
    ]);
    expect(ctx.states).toEqual(['closed', 'closed']);
  });

  it('gives back the messages it does not need again as loading messages that are done', async () => {
    const { ctx, call } = await scene(
      [{ reasoning: 'Hm' }, { text: 'Half' }, { reasoning: 'More' }, { cut: true }],
      [{ text: 'Now' }, { cut: true }],
      says('Done.'),
    );
    await call();
    expect(ctx.messages.map(({ type, props }) => [type, props])).toEqual([
      ['text', { content: 'Done.' }],
      ['loading', { message: '', done: true }],
      ['loading', { message: '', done: true }],
    ]);
    expect(ctx.states).toEqual(['closed', 'closed', 'closed']);
    expect(ctx.deeds).toEqual([
      ...['send 0', 'send 1', 'send 2'],
      ...['replace 0', 'replace 1', 'replace 2'],
      ...['replace 0', 'replace 1', 'replace 2'],
      ...['end 0', 'end 1', 'end 2'],
    ]);
  });

  it('that only calls tools in the end leaves no half text', async () => {
    const { ctx, call } = await scene(
      [{ text: 'Half' }, { cut: true }],
      callsTools({ id: 'a', name: 'nothing', args: {} }),
    );
    await call();
    expect(ctx.messages.map(({ type, state }) => [type, state])).toEqual([['loading', 'closed']]);
  });

  it('is not asked again after the turn was stopped', async () => {
    const { server, ctx, call } = await scene(fails(500, 'oops'), says('never'));
    ctx.pausesAreInstant = false;
    const running = call();
    await server.asked(1);
    await expect.poll(() => ctx.waits.includes(250)).toBe(true);
    ctx.abort.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(server.requests).toHaveLength(1);
    await expect(call()).rejects.toThrow('stopped');
    expect(server.requests).toHaveLength(1);
  });

  it('is not asked again when it is the chat that refuses', async () => {
    const { server, ctx, call } = await scene(says('a', 'b'), says('never'));
    ctx.refuse = (deed) => deed === 'append';
    await expect(call()).rejects.toMatchObject({ code: 'turn_ended' });
    expect(server.requests).toHaveLength(1);
    expect(ctx.states).toEqual(['closed']);
  });

  it('is retried by the policy of the caller', async () => {
    const { server, ctx, call } = await scene(fails(400, 'odd'), fails(400, 'odd'), says('Even.'));
    const seen: unknown[] = [];
    const retryable = (error: unknown) => seen.push((error as { status: number }).status) > 0;
    await call({ retry: { attempts: 3, backoffMs: 10, factor: 5, maxBackoffMs: 30, retryable } });
    expect(server.requests).toHaveLength(3);
    expect(seen).toEqual([400, 400]);
    expect(ctx.waits.filter((ms) => ms !== 30_000)).toEqual([10, 30]);
  });
});

describe('a model that is silent', () => {
  it('is given up and asked again, its request ended', async () => {
    const { server, ctx, call } = await scene([{ text: 'Half' }, { hold: true }], says('Whole.'));
    await expect(call({ timeoutMs: 100 })).resolves.toMatchObject({ content: 'Whole.' });
    expect(ctx.shown).toEqual([['text', 'Whole.']]);
    await expect.poll(() => server.answering).toBe(0);
  });

  it('before its first word, each time, is a timeout', async () => {
    const { server, ctx, call } = await scene();
    server.fallback = [{ hold: true }];
    await expect(call({ timeoutMs: 40, retry: { attempts: 2 } })).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'timeout',
    });
    expect(server.requests).toHaveLength(2);
    expect(ctx.deeds).toEqual([]);
  });

  it('is not one that is slow, nor one whose reader is', async () => {
    const { server, ctx, call } = await scene([
      ...'slowly'.split('').flatMap((text) => [{ waitMs: 100 }, { text }]),
      { finish: 'stop' },
    ]);
    const append = ctx.append.bind(ctx);
    let isFirst = true;
    ctx.append = async (...args) => {
      if (isFirst) await new Promise((resolve) => setTimeout(resolve, 700));
      isFirst = false;
      return append(...args);
    };
    await expect(call({ timeoutMs: 400 })).resolves.toMatchObject({ content: 'slowly' });
    expect(server.requests).toHaveLength(1);
  });
});
