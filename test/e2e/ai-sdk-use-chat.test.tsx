import { describe, expect, test } from 'vitest';
import { UI_MAJORS, type UiMessage } from '../../protocol/ai-sdk/index.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { until } from '../harness/until.js';
import { lastOf, openTab, textsIn, type Hook } from '../harness/use-chat.js';
import { askedOf, callTool, gate, speak, uiScene } from './ui-scene.js';

/** A stock `useChat` with `DefaultChatTransport` against a real server. */

const plain = (messages: readonly UiMessage[]): unknown => JSON.parse(JSON.stringify(messages));
const isReady = ({ status, messages }: Hook): boolean => status === 'ready' && messages.at(-1)?.role === 'assistant';

describe.each(UI_MAJORS)('major %i', (major) => {
  test('sends, streams, and holds what the history shows: text, thoughts, tools, files and data', async () => {
    const half = gate();
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'Let me see', 'thinking');
      await speak(ctx, 'Looking it up. ');
      await callTool(ctx, 'call-1', 'sunny');
      await ctx.send({ type: 'image', props: { url: 'https://example.com/oslo.png', alt: 'Oslo' } });
      await ctx.send({ type: 'chart', props: { points: [1, 2] } });
      await half.passed;
      await speak(ctx, `About ${askedOf(ctx)}: it is sunny.`);
    });
    const tab = openTab({ major, ...scene });
    const sent = tab.now.sendMessage({ text: 'Oslo' });
    await tab.becomes(
      (hook) => hook.status === 'streaming' && (lastOf(hook)?.parts.length ?? 0) >= 5,
      'what was said before the gate',
    );
    half.open();
    await sent;
    const { messages, error } = await tab.becomes(isReady, 'the end');
    expect(error).toBeUndefined();
    expect(textsIn(messages[1])).toBe('Looking it up. About Oslo: it is sunny.');
    const types = messages[1]?.parts.map(({ type }) => type);
    expect(types).toEqual([
      'step-start',
      'reasoning',
      'text',
      'tool-weather',
      'file',
      'data-chart',
      'step-start',
      'text',
    ]);
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
    expect(new Set(tab.seen.map(({ status }) => status))).toEqual(new Set(['ready', 'submitted', 'streaming']));
  });

  test('files that a person sends are the input, and come back as they were', async () => {
    const scene = await uiScene(async (ctx) => {
      await speak(
        ctx,
        ctx.input
          .map(({ type, props }) => `${type} ${JSON.stringify(props['filename'] ?? props['content'])}`)
          .join(', '),
      );
    });
    const tab = openTab({ major, ...scene });
    const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=', filename: 'a.png' };
    const paper = { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/b.pdf', filename: 'b.pdf' };
    await tab.now.sendMessage({ text: 'See', files: [file, paper], metadata: { from: 'test' } });
    const { messages } = await tab.becomes(isReady, 'the end');
    expect(textsIn(messages[1])).toBe('image "a.png", file "b.pdf", text "See"');
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
  });

  test('a page that is left stops nothing; one that comes back resumes from the beginning and holds all', async () => {
    const half = gate();
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'One two ');
      await half.passed;
      await speak(ctx, 'three');
    });
    const before = openTab({ major, ...scene });
    void before.now.sendMessage({ text: 'count' });
    await before.becomes((hook) => textsIn(lastOf(hook)) === 'One two ', 'the first half');
    await before.now.stop(); // the request is given up, as by a reload
    before.close();
    const after = openTab({ major, ...scene, messages: await scene.history(major), resume: true });
    await after.becomes((hook) => hook.status === 'streaming', 'the resumed stream');
    half.open();
    const { messages } = await after.becomes(isReady, 'the end');
    expect(messages).toHaveLength(2);
    expect(textsIn(messages[1])).toBe('One two three');
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
  });

  test('two tabs show the same answer at once', async () => {
    const half = gate();
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'One ');
      await half.passed;
      await speak(ctx, 'two');
    });
    const first = openTab({ major, ...scene });
    void first.now.sendMessage({ text: 'count' });
    await first.becomes((hook) => textsIn(lastOf(hook)) === 'One ', 'the first half');
    const second = openTab({ major, ...scene, messages: (await scene.history(major)).slice(0, 1), resume: true });
    await second.becomes((hook) => textsIn(lastOf(hook)) === 'One ', 'the first half in the other');
    half.open();
    const ends = await Promise.all([first, second].map((tab) => tab.becomes(isReady, 'the end')));
    expect(plain(ends[0]?.messages ?? [])).toEqual(plain(ends[1]?.messages ?? []));
    expect(textsIn(ends[1]?.messages[1])).toBe('One two');
  });

  test('the stop endpoint stops the turn for every tab, and what was said stays', async () => {
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'And so on');
      await new Promise(() => undefined);
    });
    const tab = openTab({ major, ...scene });
    void tab.now.sendMessage({ text: 'go' });
    await tab.becomes((hook) => textsIn(lastOf(hook)) === 'And so on', 'the text');
    const response = await scene.request('POST', `/v1/ai-sdk/chat/${scene.chatId}/stop`);
    expect(await response.json()).toMatchObject({ turn: { status: 'interrupted', stopReason: 'stopped' } });
    const { messages, error } = await tab.becomes(isReady, 'the end');
    expect(error).toBeUndefined();
    expect(messages[1]?.metadata).toMatchObject({ turnstream: { status: 'interrupted', stopReason: 'stopped' } });
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
  });

  test('regenerate gives another answer in the place of the first, of an earlier question too', async () => {
    let answers = 0;
    const scene = await uiScene((ctx) => speak(ctx, `${askedOf(ctx)} ${++answers}`));
    const tab = openTab({ major, ...scene });
    await tab.now.sendMessage({ text: 'a' });
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'a 1', 'the first');
    await tab.now.regenerate();
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'a 2', 'the second');
    expect(tab.now.messages).toHaveLength(2);
    await tab.now.sendMessage({ text: 'b' });
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'b 3', 'the next question');
    const [, answer] = tab.now.messages;
    await tab.now.regenerate({ messageId: answer?.id as string });
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'a 4', 'the first question anew');
    expect(tab.now.messages).toHaveLength(2);
    expect((await scene.history(major)).map(textsIn)).toEqual(['a', 'a 4']);
  });

  test('an edited question is asked anew, and what came after it is gone', async () => {
    const scene = await uiScene((ctx) => speak(ctx, `${ctx.history().length} before, ${askedOf(ctx)}`));
    const tab = openTab({ major, ...scene });
    for (const text of ['a', 'b']) {
      await tab.now.sendMessage({ text });
      await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)).endsWith(text), text);
    }
    const [question] = tab.now.messages;
    for (const text of ['c', 'd']) {
      await tab.now.sendMessage({ text, messageId: question?.id });
      await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === `0 before, ${text}`, text);
      expect(plain(tab.now.messages)).toEqual(plain(await scene.history(major)));
    }
    expect(tab.now.messages.map(({ id }) => id)[0]).toBe(question?.id);
  });

  test('a connection that is cut in the middle is an error; the page resumes, and holds all of it once', async () => {
    const half = gate();
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'One two ');
      await half.passed;
      await speak(ctx, 'three');
    });
    const proxy = await Proxy.to(scene.url, asBytes);
    const tab = openTab({ major, ...scene, api: `${proxy.url}/v1/ai-sdk/chat` });
    void tab.now.sendMessage({ text: 'count' });
    await tab.becomes((hook) => textsIn(lastOf(hook)) === 'One two ', 'the first half');
    proxy.cut();
    await tab.becomes(({ status }) => status === 'error', 'the error');
    half.open();
    // As the guide says: major 5 appends what is told again, unless it begins anew from the history.
    const again = major === 5 ? openTab({ major, ...scene, messages: await scene.history(major) }) : tab;
    await again.now.resumeStream();
    const { messages } = await again.becomes(isReady, 'the end');
    expect(textsIn(messages[1])).toBe('One two three');
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
  });

  test('a turn that fails is an error with its sentence, and what was said stays', async () => {
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'Well');
      throw Object.assign(new Error('The oven is cold.'), { code: 'cold' });
    });
    const tab = openTab({ major, ...scene });
    await tab.now.sendMessage({ text: 'bake' });
    const { error, messages } = await tab.becomes(({ status }) => status === 'error', 'the error');
    expect(error?.message).toBe('The oven is cold.');
    expect(plain(messages)).toEqual(plain(await scene.history(major)));
    expect(messages[1]?.metadata).toMatchObject({ turnstream: { status: 'failed', error: { code: 'cold' } } });
  });

  test('a refusal is an error with the body that says why', async () => {
    const scene = await uiScene((ctx) => speak(ctx, 'never'));
    const tab = openTab({ major, ...scene, chatId: 'no such form' });
    await tab.now.sendMessage({ text: 'x' });
    const { error } = await tab.becomes(({ status }) => status === 'error', 'the error');
    expect(error?.message).toContain('"path":"id"');
  });

  test('a page of a chat that nobody has written in resumes nothing, without an error', async () => {
    const scene = await uiScene((ctx) => speak(ctx, 'never'));
    const tab = openTab({ major, ...scene, resume: true });
    await until(() => tab.seen.length > 0, 'the page');
    await tab.now.resumeStream();
    expect(tab.now.status).toBe('ready');
    expect(tab.now.error).toBeUndefined();
  });

  test('what is of the moment reaches `onData`, and is no part of the message', async () => {
    const parts: unknown[] = [];
    const scene = await uiScene(async (ctx) => {
      await ctx.send({ type: 'loading', props: { message: 'Wait', done: false } });
      await ctx.signal('searching', { query: 'cats' });
      await speak(ctx, 'Done');
    });
    const tab = openTab({ major, ...scene, onData: (part) => parts.push(part) });
    await tab.now.sendMessage({ text: 'go' });
    const { messages } = await tab.becomes(isReady, 'the end');
    expect(messages[1]?.parts.map(({ type }) => type)).toEqual(['step-start', 'text']);
    expect(parts).toContainEqual(
      expect.objectContaining({ type: 'data-loading', data: { message: 'Wait', done: false } }),
    );
  });
});
