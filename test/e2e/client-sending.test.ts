import { describe, expect, test } from 'vitest';
import type { TokenRequest } from '../../client/index.js';
import { Agent } from '../harness/agent.js';
import { becomes } from '../harness/becomes.js';
import { httpHistory } from '../harness/consistent.js';
import { Proxy } from '../harness/proxy.js';
import { answerIn, clientOf, endOf, expectSameViews, messagesOf, opened, textOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';

/** A server behind a network, an agent in the test's hand, and a chat that one client follows over that network and another without. */
async function scene(env: Record<string, string> = {}) {
  const { url } = await startServer({ env: { COALESCE_MS: '0', ...env } });
  const agent = await new Agent(url, ['bot']).join();
  const proxy = await Proxy.to(url);
  const other = clientOf(url);
  const { chatId } = (await other.call('chat:create', { assistantId: 'bot' })).chat;
  const client = clientOf(proxy.url);
  const chat = await opened(client, chatId);
  const watching = await opened(other, chatId);
  const offline = async (): Promise<void> => {
    proxy.isUp = false;
    proxy.cut();
    await becomes(client.connection, ({ status }) => status === 'waiting');
  };
  return { url, agent, proxy, client, chat, chatId, watching, offline };
}

/** The acknowledgement of a turn:start. */
const isStartAck = (frame: string): boolean => /^43\d+\[\{"ok":true,"data":\{"turn":/.test(frame);

describe('C06: a start is done once', () => {
  test('C06: inputs given offline stand in `pending`, are sent when the server is back, and once each, in order', async () => {
    const { url, agent, proxy, chat, watching, offline } = await scene();
    await offline();
    const starts = ['one', 'two', 'three'].map((input) => chat.start(input));
    await becomes(chat.view, ({ pending }) => pending.length === 3);
    const { pending } = chat.view.getSnapshot();
    expect(pending.map(({ messages }) => messages[0]?.props['content'])).toEqual(['one', 'two', 'three']);
    expect(messagesOf(watching)).toEqual([]);
    proxy.isUp = true;
    const answers = await Promise.all(starts);
    expect(answers.map(({ turn }) => turn.requestId)).toEqual(pending.map(({ requestId }) => requestId));
    for (const { turn } of answers) {
      const run = await agent.run(turn.requestId);
      await run.close();
      await endOf(chat, turn.requestId);
    }
    expect((await expectSameViews(url, chat, watching)).map(textOf)).toEqual(['one', 'two', 'three']);
  });

  test('C06, TRN-1: an answer lost with its connection does not make the input twice', async () => {
    const { url, agent, proxy, chat, watching } = await scene();
    let cuts = 3;
    proxy.fate = (frame) => (isStartAck(frame) && cuts-- > 0 ? 'cut' : 'pass');
    const { turn, duplicate } = await chat.start('once');
    expect(duplicate).toBe(true);
    expect(proxy.connections).toBe(4);
    const run = await agent.run(turn.requestId);
    await run.send('answered once');
    await run.close();
    await endOf(chat, turn.requestId);
    expect((await expectSameViews(url, chat, watching)).map(textOf)).toEqual(['once', 'answered once']);
    expect(agent.runs).toHaveLength(1);
  });

  test('C06: a start whose answer does not come before the connection ends is sent again on the next, also where it creates the chat', async () => {
    const { url, agent, proxy, client, chatId } = await scene();
    const chat = client.chat(client.newId());
    chat.open();
    await becomes(chat.view, ({ reason }) => reason === 'not_found');
    proxy.fate = (frame) => (isStartAck(frame) ? 'hold' : 'pass');
    const started = chat.start('first', { createChat: true, assistantId: 'bot' });
    await proxy.holds(1);
    expect(chat.view.getSnapshot().pending).toMatchObject([{ error: null }]);
    proxy.fate = () => 'pass';
    proxy.cut();
    const { turn, duplicate } = await started;
    expect(duplicate).toBe(true);
    await (await agent.run(turn.requestId)).close();
    await endOf(chat, turn.requestId);
    expect((await expectSameViews(url, chat)).map(textOf)).toEqual(['first']);
    expect(await httpHistory(url, chatId)).toEqual([]);
  });
});

describe('refused inputs', () => {
  test('C10: what is too large is refused here: the connection stays, and nothing else is lost', async () => {
    const { url, agent, proxy, client, chat, watching } = await scene({ MAX_FRAME_BYTES: '65536' });
    expect(client.limits.maxFrameBytes).toBe(65536);
    const before = chat.start('before');
    const large = chat.start('x'.repeat(70_000));
    const after = chat.start('after');
    await expect(large).rejects.toMatchObject({
      code: 'payload_too_large',
      details: { limit: 'maxFrameBytes', max: 65536 },
    });
    for (const started of [before, after]) {
      const { turn } = await started;
      await (await agent.run(turn.requestId)).close();
      await endOf(chat, turn.requestId);
    }
    const { pending } = chat.view.getSnapshot();
    expect(pending).toMatchObject([{ error: { code: 'payload_too_large' } }]);
    chat.dismiss(pending[0]?.requestId ?? '');
    expect(proxy.connections).toBe(1);
    expect((await expectSameViews(url, chat, watching)).map(textOf)).toEqual(['before', 'after']);
  });

  test('C10: an input that was queued before the limits were known is refused when they are', async () => {
    const { url, agent, proxy, offline, chatId } = await scene({ MAX_FRAME_BYTES: '65536' });
    await offline();
    const client = clientOf(proxy.url);
    const chat = client.chat(chatId);
    chat.open();
    const large = chat.start('x'.repeat(70_000));
    const small = chat.start('small');
    await becomes(client.connection, ({ status }) => status === 'waiting');
    expect(chat.view.getSnapshot().pending).toMatchObject([{ error: null }, { error: null }]);
    proxy.isUp = true;
    await expect(large).rejects.toMatchObject({ code: 'payload_too_large', details: { max: 65536 } });
    await (await agent.run((await small).turn.requestId)).close();
    expect((await httpHistory(url, chatId)).map(textOf)).toEqual(['small']);
  });

  test('C20: a refused start keeps its reason in this view alone, and can be sent again as the same request', async () => {
    const { url, agent, chat, watching } = await scene();
    const running = await agent.run((await chat.start('first')).turn.requestId);
    const refused = chat.start('second', { onBusy: 'reject' });
    await expect(refused).rejects.toMatchObject({ code: 'turn_busy', details: { activeRequestId: running.requestId } });
    const [input] = chat.view.getSnapshot().pending;
    expect(input).toMatchObject({ messages: [{ props: { content: 'second' } }], error: { code: 'turn_busy' } });
    await expect(chat.retry(input?.requestId ?? '')).rejects.toMatchObject({ code: 'turn_busy' });
    await running.send('answer');
    await running.close();
    await endOf(watching, running.requestId);
    expect(messagesOf(watching).map(textOf)).toEqual(['first', 'answer']);
    const { turn } = await chat.retry(input?.requestId ?? '');
    expect(turn.requestId).toBe(input?.requestId);
    await (await agent.run(turn.requestId)).close();
    await endOf(chat, turn.requestId);
    expect((await expectSameViews(url, chat, watching)).map(textOf)).toEqual(['first', 'answer', 'second']);
  });

  test('C20, ACC-2: who may read and not talk keeps the refusal and the view', async () => {
    const { url, chat, chatId, watching } = await scene();
    await chat.update({ public: true });
    const guest = await opened(clientOf(url, { auth: { userId: 'guest' } }), chatId);
    await expect(guest.start('hello')).rejects.toMatchObject({ code: 'forbidden' });
    expect(guest.view.getSnapshot()).toMatchObject({ status: 'live', pending: [{ error: { code: 'forbidden' } }] });
    expect(messagesOf(watching)).toEqual([]);
  });
});

test.each(['0{"sid"', '40{"sid"', '42["hello"'])(
  'a connection that is cut in its handshake, at %s, is followed by the next at once and not after the limit on connecting',
  async (part) => {
    const { url } = await startServer();
    const proxy = await Proxy.to(url);
    let cuts = 3;
    proxy.fate = (frame) => (frame.startsWith(part) && cuts-- > 0 ? 'cut' : 'pass');
    const client = clientOf(proxy.url);
    await becomes(client.connection, ({ status }) => status === 'open', 5_000);
    expect(proxy.connections).toBe(4);
  },
);

test('C30, CON-1: the token function is asked once for each attempt to connect', async () => {
  const { proxy, chatId, url } = await scene();
  const asked: TokenRequest[] = [];
  const token = async (request: TokenRequest): Promise<string> => {
    asked.push(request);
    if (asked.length === 2) throw new Error('the token server is away');
    return `token-${asked.length}`;
  };
  const client = clientOf(proxy.url, { token });
  const chat = await opened(client, chatId);
  const connected = proxy.connections;
  proxy.cut();
  await until(() => asked.length === 3, 'a third question');
  await becomes(chat.view, ({ status }) => status === 'live');
  expect(asked).toEqual([{ refused: null }, { refused: null }, { refused: null }]);
  // The attempt without a token was none on the wire; the scene's own client came back as well.
  await until(() => proxy.connections === connected + 2, 'both connections');
  await expectSameViews(url, chat);
});

test('TRN-3, C42: a client that stops the running turn goes on with its queued one; a parallel turn runs beside it', async () => {
  const { url, agent, chat, watching } = await scene();
  const first = await agent.run((await chat.start('first')).turn.requestId);
  const queued = await chat.start('queued');
  const beside = await agent.run((await chat.start('beside', { onBusy: 'parallel' })).turn.requestId);
  await beside.send('aside');
  await chat.stop();
  await endOf(chat, first.requestId);
  const second = await agent.run(queued.turn.requestId);
  await second.send('answer');
  await beside.close();
  await second.close();
  await endOf(chat, second.requestId);
  await endOf(chat, beside.requestId);
  expect(answerIn(watching, second.requestId)).toBe('answer');
  await expectSameViews(url, chat, watching);
});
