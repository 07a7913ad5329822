import { describe, expect, test } from 'vitest';
import { createChatTransport } from '../../client/ai-sdk/index.js';
import { UI_MAJORS, type UiMessage } from '../../protocol/ai-sdk/index.js';
import { isEnded } from '../../protocol/index.js';
import { Proxy } from '../harness/proxy.js';
import { clientOf } from '../harness/sdk.js';
import { until } from '../harness/until.js';
import { lastOf, openTab, textsIn, type Hook } from '../harness/use-chat.js';
import { askedOf, callTool, gate, speak, uiScene } from './ui-scene.js';

/** `useChat` over the client's own connection: the `ChatTransport` of `turnstream/ai-sdk`. */

const plain = (messages: readonly UiMessage[]): unknown => JSON.parse(JSON.stringify(messages));
const isReady = ({ status, messages }: Hook): boolean => status === 'ready' && messages.at(-1)?.role === 'assistant';

describe.each(UI_MAJORS)('major %i', (major) => {
  test('sends, streams, regenerates, edits, and holds what the history shows', async () => {
    let answers = 0;
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'Hm', 'thinking');
      await callTool(ctx, 'call-1', 'sunny');
      await speak(ctx, `${askedOf(ctx)} ${++answers}`);
    });
    const client = clientOf(scene.url);
    const transport = createChatTransport(client, { assistantId: 'bot', major });
    const tab = openTab({ major, ...scene, transport, resume: true });
    await tab.now.sendMessage({ text: 'a' });
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'a 1', 'the answer');
    expect(plain(tab.now.messages)).toEqual(plain(await scene.history(major)));
    expect(plain((await transport.history(scene.chatId)) as never)).toEqual(plain(tab.now.messages));
    await tab.now.regenerate();
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'a 2', 'another answer');
    await tab.now.sendMessage({ text: 'b', messageId: tab.now.messages[0]?.id });
    await tab.becomes((hook) => isReady(hook) && textsIn(lastOf(hook)) === 'b 3', 'the edited question');
    expect(plain(tab.now.messages)).toEqual(plain(await scene.history(major)));
  });

  test('a network that is cut is nothing to the page: the answer goes on where it was', async () => {
    const half = gate();
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'One two ');
      await half.passed;
      await speak(ctx, 'three');
    });
    const proxy = await Proxy.to(scene.url);
    const transport = createChatTransport(clientOf(proxy.url), { assistantId: 'bot', major });
    const tab = openTab({ major, ...scene, transport });
    void tab.now.sendMessage({ text: 'count' });
    await tab.becomes((hook) => textsIn(lastOf(hook)) === 'One two ', 'the first half');
    proxy.cut();
    half.open();
    const { messages, error } = await tab.becomes(isReady, 'the end');
    expect(error).toBeUndefined();
    expect(textsIn(messages[1])).toBe('One two three');
    expect(proxy.connections).toBeGreaterThan(1);
  });

  test('stop() stops the turn; another page that resumes shows it meanwhile', async () => {
    const scene = await uiScene(async (ctx) => {
      await speak(ctx, 'And so on');
      await new Promise(() => undefined);
    });
    const tab = openTab({
      major,
      ...scene,
      transport: createChatTransport(clientOf(scene.url), { assistantId: 'bot', major }),
    });
    void tab.now.sendMessage({ text: 'go' });
    await tab.becomes((hook) => textsIn(lastOf(hook)) === 'And so on', 'the text');
    const other = openTab({
      major,
      ...scene,
      resume: true,
      transport: createChatTransport(clientOf(scene.url), { major }),
    });
    await other.becomes((hook) => textsIn(lastOf(hook)) === 'And so on', 'the text in the other');
    await tab.now.stop();
    await tab.becomes(({ status }) => status === 'ready', 'the stop');
    const { messages } = await other.becomes(isReady, 'the end in the other');
    expect(messages.at(-1)?.metadata).toMatchObject({ turnstream: { status: 'interrupted', stopReason: 'stopped' } });
  });
});

test('with abortStops: false a page that stops only stops listening; stop(chatId) stops', async () => {
  const scene = await uiScene(async (ctx) => {
    await speak(ctx, 'And so on');
    await new Promise(() => undefined);
  });
  const client = clientOf(scene.url);
  const transport = createChatTransport(client, { assistantId: 'bot', abortStops: false });
  const tab = openTab({ major: 7, ...scene, transport });
  void tab.now.sendMessage({ text: 'go' });
  await tab.becomes((hook) => textsIn(lastOf(hook)) === 'And so on', 'the text');
  await tab.now.stop();
  const turn = async () => (await client.call('turn:list', { chatId: scene.chatId })).turns[0];
  expect((await turn())?.status).toBe('running');
  await transport.stop(scene.chatId);
  await until(async () => isEnded((await turn())?.status ?? 'running'), 'the end');
  await transport.stop(scene.chatId); // there is nothing to stop any more
});

test('a refusal of the server is an error of the hook, and leaves nothing behind in the client', async () => {
  const scene = await uiScene((ctx) => speak(ctx, 'never'));
  const client = clientOf(scene.url);
  const tab = openTab({ major: 7, ...scene, transport: createChatTransport(client) });
  await tab.now.sendMessage({ text: 'x' });
  const { error } = await tab.becomes(({ status }) => status === 'error', 'the error');
  expect(error).toMatchObject({ code: 'bad_request', details: { path: 'assistantId' } });
  expect(client.chat(scene.chatId).view.getSnapshot().pending).toEqual([]);
});
