import { isStepCount, readUIMessageStream, streamText, tool, toUIMessageStream, type UIMessageChunk } from 'ai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { UiMessage } from '../../protocol/ai-sdk/index.js';
import { answering, type Say } from '../harness/scripted-model.js';
import { readChunks } from '../harness/ui-reader.js';
import { ask, chunksOf } from './ui-asking.js';
import { uiScene } from './ui-scene.js';

/** `ctx.pipe` and the endpoint together are transparent: a page gets what the SDK's own backend would have given it. */

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => {
    if (city === 'Atlantis') throw new Error('It has sunk.');
    return { sky: 'clear', city };
  },
});

const WAYS: Readonly<Record<string, readonly (readonly Say[])[]>> = {
  'a text': [['Hello there, ', 'you']],
  'thoughts and a text': [[{ thinking: 'Hm.' }, 'Yes.']],
  'a tool, and what the model says of it': [
    ['Looking.', { call: 'weather', id: 'a', input: { city: 'Oslo' } }],
    ['It is clear.'],
  ],
  'two tools at once, one that throws, then more thoughts': [
    [
      { call: 'weather', id: 'a', input: { city: 'Oslo' } },
      { call: 'weather', id: 'b', input: { city: 'Atlantis' } },
    ],
    [{ thinking: 'One has sunk.' }, 'Oslo it is.'],
  ],
};

const made = (says: readonly (readonly Say[])[]) =>
  streamText({
    model: answering(...says),
    prompt: 'go',
    tools: { weather },
    stopWhen: isStepCount(5),
    onError: () => undefined,
  });

/** Without what only one of them says: ids, and where a part is found. */
const plain = (parts: readonly object[]): unknown =>
  parts.map((part) =>
    Object.fromEntries(
      Object.entries(part).filter(([key, value]) => value !== undefined && key !== 'id' && !/metadata$/i.test(key)),
    ),
  );

test.each(Object.entries(WAYS))('%s', async (_, says) => {
  let own: UiMessage | undefined;
  const stream = toUIMessageStream({
    stream: made(says).stream,
    onError: (error) => (error instanceof Error ? error.message : String(error)),
  }) as ReadableStream<UIMessageChunk>;
  for await (const message of readUIMessageStream({ stream })) own = message as unknown as UiMessage;
  const scene = await uiScene(async (ctx) => void (await ctx.pipe(made(says))));
  const { chunks } = await chunksOf(await ask(scene, {}));
  const { message, errors } = await readChunks(7, chunks);
  expect(errors).toEqual([]);
  expect(plain(message?.parts ?? [])).toEqual(plain(own?.parts ?? []));
  expect(plain((await scene.history())[1]?.parts ?? [])).toEqual(plain(own?.parts ?? []));
});

test.each([
  ['gives no promise', () => ({ done: true })],
  [
    'throws',
    () => {
      throw new Error('I cannot be left.');
    },
  ],
])('a turn is stopped whose stream hangs, and %s when it is left', async (_, leave) => {
  const stream = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined), return: leave }) };
  const scene = await uiScene(async (ctx) => void (await ctx.pipe(stream as unknown as AsyncIterable<unknown>)));
  const response = await ask(scene, {});
  await scene.request('POST', `/v1/ai-sdk/chat/${scene.chatId}/stop`);
  expect((await chunksOf(response)).chunks.at(-1)).toEqual({ type: 'abort', reason: 'stopped' });
  expect((await fetch(`${scene.url}/healthz`)).status).toBe(200);
});
