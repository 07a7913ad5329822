import { createUIMessageStream, isStepCount, streamText, tool, type UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { AssistantError, defineAssistant, ModelError, type Assistant, type Piped } from '../../assistant/index.js';
import { answering, COST } from '../harness/scripted-model.js';
import { until } from '../harness/until.js';
import { hosts } from './assistant-hosts.js';
import { forever, outline, shown } from './assistant-watch.js';

/** `ctx.pipe`: streams of the AI SDK become messages and steps. */

const worker = (run: Assistant['run']): Assistant => defineAssistant({ assistantId: 'worker', run });

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
});

const CALL = { call: 'weather', id: 'call-1', input: { city: 'Oslo' } };
const quiet = { onError: () => undefined, maxRetries: 0 };

const chunksOf = (...chunks: object[]): ReadableStream<UIMessageChunk> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });

describe.each(hosts)('$name', ({ host }) => {
  test('a result of streamText: thoughts, text, tool calls and what came of them, as messages and steps', async () => {
    let piped: Piped | undefined;
    const scene = await host([
      worker(async (ctx) => {
        const model = answering([{ thinking: 'Which city?' }, 'Looking it up.', CALL], ['It is sunny in Oslo.']);
        piped = await ctx.pipe(() =>
          streamText({
            ...quiet,
            model,
            prompt: 'Oslo?',
            tools: { weather },
            stopWhen: isStepCount(5),
            abortSignal: ctx.abortSignal,
          }),
        );
        return { ...piped };
      }),
    ]);
    const turn = await scene.ask('worker', 'go');
    expect(turn.error).toBeNull();
    const both = { inputTokens: 20, outputTokens: 10, totalTokens: 30 };
    expect(piped).toEqual({ text: 'Looking it up.It is sunny in Oslo.', finishReason: 'stop', usage: both });
    expect(turn.usage).toEqual(both);
    expect(COST.totalTokens * 2).toBe(both.totalTokens);
    const messages = await scene.messages(turn.requestId);
    expect(messages.map(({ type, props, state }) => [type, props, state])).toEqual([
      ['thinking', { content: 'Which city?' }, 'closed'],
      ['text', { content: 'Looking it up.' }, 'closed'],
      [
        'tool_call',
        { toolCallId: 'call-1', tool: 'weather', input: { city: 'Oslo' }, state: 'completed', output: 'sunny in Oslo' },
        'closed',
      ],
      ['text', { content: 'It is sunny in Oslo.' }, 'closed'],
    ]);
    const steps = await scene.steps(turn.requestId);
    expect(outline(steps)).toEqual([
      ['llm', 'completed', null],
      ['tool', 'completed', { tool: 'weather', toolCallId: 'call-1', args: { city: 'Oslo' } }],
    ]);
    expect(steps.map(({ output }) => output)).toEqual([piped, { result: 'sunny in Oslo' }]);
    expect(new Set(messages.map(({ stepId }) => stepId))).toEqual(new Set([steps[0]?.stepId]));
  });

  test('people see the text while it is said; its fullStream will do as well', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const scene = await host([
      worker(async (ctx) => {
        const model = answering(['One two ', () => held, 'three']);
        await ctx.pipe(streamText({ ...quiet, model, prompt: 'count' }).fullStream);
      }),
    ]);
    const { turn } = await scene.start('worker', 'go');
    await scene.shows('One two ');
    release();
    expect((await turn).status).toBe('completed');
    await scene.shows('One two three');
  });

  test('a stream of UI message chunks: each kind, what changes in place, and what is of the moment', async () => {
    const scene = await host([
      worker(async (ctx) => {
        const stream = createUIMessageStream({
          execute({ writer }) {
            const write = (chunk: object): void => writer.write(chunk as UIMessageChunk);
            write({ type: 'start', messageId: 'm' });
            write({ type: 'start-step' });
            write({ type: 'reasoning-start', id: 'r' });
            write({ type: 'reasoning-delta', id: 'r', delta: 'Hm.' });
            write({ type: 'reasoning-end', id: 'r' });
            write({ type: 'data-progress', id: 'p', data: { percent: 10 } });
            write({ type: 'data-progress', id: 'p', data: { percent: 100 } });
            write({ type: 'data-list', data: [1, 2] });
            write({ type: 'data-hint', data: 'soon', transient: true });
            write({ type: 'text-start', id: 't' });
            write({ type: 'text-delta', id: 't', delta: 'Hel' });
            write({ type: 'text-delta', id: 't', delta: 'lo 🙂'.slice(0, 4) });
            write({ type: 'text-delta', id: 't', delta: 'lo 🙂'.slice(4) });
            write({ type: 'text-end', id: 't' });
            write({ type: 'tool-input-start', toolCallId: 'a', toolName: 'w', dynamic: true });
            write({ type: 'tool-input-delta', toolCallId: 'a', inputTextDelta: '{"x":1}' });
            write({ type: 'tool-input-available', toolCallId: 'a', toolName: 'w', dynamic: true, input: { x: 1 } });
            write({ type: 'tool-output-available', toolCallId: 'a', output: 1, preliminary: true });
            write({ type: 'tool-output-available', toolCallId: 'a', output: 2 });
            write({ type: 'tool-input-available', toolCallId: 'b', toolName: 'w', input: {} });
            write({ type: 'tool-output-error', toolCallId: 'b', errorText: 'no' });
            write({ type: 'tool-input-available', toolCallId: 'c', toolName: 'ask', input: {} });
            write({ type: 'source-url', sourceId: 's', url: 'https://example.com', title: 'Example' });
            write({ type: 'file', url: 'data:image/png;base64,iVBOR', mediaType: 'image/png' });
            write({ type: 'file', url: 'https://example.com/a.pdf', mediaType: 'application/pdf' });
            write({ type: 'finish-step' });
            write({ type: 'finish', finishReason: 'stop' });
          },
        });
        return { ...(await ctx.pipe(stream)) };
      }),
    ]);
    const turn = await scene.ask('worker', 'go');
    expect(turn.error).toBeNull();
    const messages = await scene.messages(turn.requestId);
    expect(messages.map(({ type, props }) => [type, props])).toEqual([
      ['thinking', { content: 'Hm.' }],
      ['progress', { percent: 100 }],
      ['list', { value: [1, 2] }],
      ['text', { content: 'Hello 🙂' }],
      ['tool_call', { toolCallId: 'a', tool: 'w', dynamic: true, input: { x: 1 }, state: 'completed', output: 2 }],
      ['tool_call', { toolCallId: 'b', tool: 'w', input: {}, state: 'failed', error: 'no' }],
      ['tool_call', { toolCallId: 'c', tool: 'ask', input: {}, state: 'interrupted' }],
      ['source', { sourceId: 's', url: 'https://example.com', title: 'Example' }],
      ['image', { url: 'data:image/png;base64,iVBOR', mediaType: 'image/png' }],
      ['file', { url: 'https://example.com/a.pdf', mediaType: 'application/pdf', filename: 'file' }],
    ]);
    expect(messages.every(({ state }) => state === 'closed')).toBe(true);
    expect((await scene.steps(turn.requestId)).map(({ type, status }) => [type, status])).toEqual([
      ['llm', 'completed'],
      ['tool', 'completed'],
      ['tool', 'failed'],
      ['tool', 'interrupted'],
    ]);
  });

  test('what fails the stream fails the turn, and what was said stays', async () => {
    const thrown: unknown[] = [];
    const scene = await host([
      worker(async (ctx) => {
        const fails = () => {
          throw new Error('out of tokens');
        };
        const model = answering(['Well ', fails]);
        await ctx.pipe(streamText({ ...quiet, model, prompt: 'x' })).catch((error: unknown) => thrown.push(error));
        const cut = chunksOf(
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'then' },
          { type: 'error', errorText: 'gone' },
        );
        await ctx.pipe(cut);
      }),
    ]);
    const turn = await scene.ask('worker', 'go');
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'error', message: 'gone' } });
    expect(thrown).toEqual([expect.any(ModelError)]);
    expect(String(thrown[0])).toContain('out of tokens');
    expect(await scene.answers(turn.requestId)).toEqual(['Well ', 'then']);
    expect((await scene.messages(turn.requestId)).every(({ state }) => state === 'closed')).toBe(true);
  });

  test('what is no stream of the AI SDK is refused', async () => {
    const thrown: unknown[] = [];
    const scene = await host([
      worker(async (ctx) => {
        const strange = [{}, 'text', null, chunksOf({ no: 'type' })] as never[];
        for (const one of strange) await ctx.pipe(one).catch((error: unknown) => thrown.push(error));
      }),
    ]);
    expect((await scene.ask('worker', 'go')).status).toBe('completed');
    expect(thrown).toHaveLength(4);
    for (const error of thrown) expect(error).toMatchObject({ code: 'bad_result' });
    expect(thrown.every((error) => error instanceof AssistantError)).toBe(true);
  });

  test('TRN-5: a turn that is stopped stops the stream, and a call that was under way is interrupted', async () => {
    let isCancelled = false;
    const scene = await host([
      worker(async (ctx) => {
        const stream = new ReadableStream<object>({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: 't' });
            controller.enqueue({ type: 'text-delta', id: 't', delta: 'And so on' });
            controller.enqueue({ type: 'tool-input-available', toolCallId: 'a', toolName: 'w', input: {} });
          },
          cancel: () => void (isCancelled = true),
        });
        await ctx.pipe(stream);
      }),
    ]);
    const { requestId } = await scene.start('worker', 'go');
    const looks = async () => (await scene.messages(requestId)).length === 2;
    await until(looks, 'the call');
    expect(await scene.stop(requestId)).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    await until(() => isCancelled, 'the stream to be cancelled');
    expect((await scene.messages(requestId)).map(({ props }) => props['state'] ?? props['content'])).toEqual([
      'And so on',
      'interrupted',
    ]);
  });

  test('TRN-9: a stream that came to its end is not asked for again; one that was cut off is, and nothing stands twice', async () => {
    const asked: string[] = [];
    const scene = await host([
      worker(async (ctx) => {
        const first = await ctx.pipe(() => {
          asked.push(`first ${ctx.turn.attempt}`);
          return chunksOf(
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'One. ' },
            { type: 'text-end', id: 't' },
          );
        });
        const isFirst = ctx.turn.attempt === 1;
        const rest = isFirst ? [{ type: 'hang' }] : [{ type: 'tool-output-available', toolCallId: 'a', output: 1 }];
        asked.push(`second ${ctx.turn.attempt} after ${first.text}`);
        await ctx.pipe(
          chunksThen(
            isFirst,
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: isFirst ? 'Tw' : 'Two.' },
            { type: 'tool-input-available', toolCallId: 'a', toolName: 'w', input: {} },
            ...rest,
          ),
        );
      }),
    ]);
    const { moments } = await shown(scene);
    const { requestId } = await scene.start('worker', 'go');
    await until(async () => (await scene.messages(requestId)).length === 3, 'the call');
    await scene.stop(requestId);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(asked).toEqual(['first 1', 'second 1 after One. ', 'second 2 after One. ']);
    expect(
      (await scene.messages(requestId)).map(({ type, props }) => [type, props['content'] ?? props['state']]),
    ).toEqual([
      ['text', 'One. '],
      ['text', 'Two.'],
      ['tool_call', 'completed'],
    ]);
    expect(moments.every((texts) => texts.filter((text) => text === 'One. ').length <= 1)).toBe(true);
    expect((await scene.steps(requestId)).map(({ type, status }) => [type, status])).toEqual([
      ['llm', 'completed'],
      ['llm', 'completed'],
      ['tool', 'completed'],
    ]);
  });
});

async function* chunksThen(hangs: boolean, ...chunks: object[]): AsyncGenerator<object> {
  for (const chunk of chunks) if ((chunk as { type: string }).type !== 'hang') yield chunk;
  if (hangs) await forever();
}
