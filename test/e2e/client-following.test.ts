import { describe, expect, test } from 'vitest';
import type { Chat } from '../../client/index.js';
import { Agent } from '../harness/agent.js';
import { becomes } from '../harness/becomes.js';
import { httpHistory, plain } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Proxy } from '../harness/proxy.js';
import { answerIn, clientOf, endOf, expectSameViews, hasty, messagesOf, opened, textOf } from '../harness/sdk.js';
import { startServer, type ServerOptions } from '../harness/server.js';
import { until } from '../harness/until.js';

/** A server, an agent in the test's hand, and a chat that a client follows. */
async function scene(options: ServerOptions = {}) {
  const { url } = await startServer({ env: { COALESCE_MS: '0' }, ...options });
  const agent = await new Agent(url, ['bot']).join();
  const client = clientOf(url);
  const { chat: row } = await client.call('chat:create', { assistantId: 'bot' });
  const chat = await opened(client, row.chatId);
  const turn = async (input = 'go') => agent.run((await chat.start(input)).turn.requestId);
  return { url, agent, client, chat, chatId: row.chatId, turn };
}

const shows = (chat: Chat, requestId: string, text: string) =>
  becomes(chat.view, () => answerIn(chat, requestId) === text);

describe('two clients of one chat', () => {
  test('C17, SUB-4, DAT-4: one that comes late and one that is dropped five times mid-stream end with the same view', async () => {
    const { url, client, chat, chatId, turn } = await scene();
    const proxy = await Proxy.to(url);
    const dropped = await opened(clientOf(proxy.url), chatId);
    const run = await turn();
    const messageId = await run.send('');
    let text = '';
    let seen = 0;
    let late: Chat | null = null;
    for (let word = 0; word < 60; word++) {
      text += `${word} `;
      await run.append(messageId, `${word} `);
      if (word === 30) late = await opened(clientOf(url), chatId);
      if (word % 12 !== 5) continue;
      // It is back and has seen something new, and something more is on its way.
      await until(() => answerIn(dropped, run.requestId).length > seen, 'a word');
      seen = answerIn(dropped, run.requestId).length;
      proxy.cut();
    }
    await run.close();
    for (const one of [chat, dropped, late as unknown as Chat]) {
      await endOf(one, run.requestId);
      expect(answerIn(one, run.requestId)).toBe(text);
    }
    expect(proxy.connections).toBe(6);
    // C17: and the turn after it begins where the first ended.
    const next = await turn('again');
    await next.send('second');
    proxy.cut();
    await next.close();
    await endOf(dropped, next.requestId);
    await becomes(client.connection, ({ status }) => status === 'open');
    await expectSameViews(url, chat, dropped, late as unknown as Chat);
  });

  test('SUB-2, SUB-4: after more than the log keeps, a dropped client is given a snapshot and is right all the same', async () => {
    const { url, chat, chatId, turn } = await scene({ env: { COALESCE_MS: '0', LOG_MAX_EVENTS: '100' } });
    const proxy = await Proxy.to(url);
    const dropped = await opened(clientOf(proxy.url), chatId);
    const run = await turn();
    const messageId = await run.send('seen ');
    await shows(dropped, run.requestId, 'seen ');
    proxy.isUp = false;
    proxy.cut();
    await becomes(dropped.view, ({ status }) => status === 'stale');
    for (let word = 0; word < 150; word++) await run.append(messageId, `${word} `);
    await run.push({ op: 'replace', messageId, type: 'text', props: { content: 'other' } });
    proxy.isUp = true;
    await shows(dropped, run.requestId, 'other');
    await run.append(messageId, ' words');
    await run.close();
    await endOf(dropped, run.requestId);
    await expectSameViews(url, chat, dropped);
  });

  test('C14, TRN-5: a client that has just joined stops the turn of another', async () => {
    const { url, chat, chatId, turn } = await scene();
    const run = await turn();
    await run.send('so far');
    const other = await opened(clientOf(url), chatId);
    expect(other.view.getSnapshot()).toMatchObject({ isBusy: true, running: { requestId: run.requestId } });
    expect((await other.stop()).turn).toMatchObject({ requestId: run.requestId, stopReason: 'stopped' });
    expect(await run.aborted()).toMatchObject({ reason: 'stopped' });
    expect(await endOf(chat, run.requestId)).toMatchObject({ status: 'interrupted' });
    expect(chat.view.getSnapshot()).toMatchObject({ isBusy: false, running: null });
    expect(answerIn(chat, run.requestId)).toBe('so far');
    await expectSameViews(url, chat, other);
  });

  test('C14: the one that started it stops it after a reconnect, and so does one that knows the id alone', async () => {
    const { url, agent, chatId } = await scene();
    const proxy = await Proxy.to(url);
    const mine = await opened(clientOf(proxy.url), chatId);
    const first = await agent.run((await mine.start('one')).turn.requestId);
    proxy.cut();
    await becomes(mine.view, ({ status }) => status === 'stale');
    await mine.stop();
    await first.aborted();
    const second = await agent.run((await mine.start('two')).turn.requestId);
    const stopped = await clientOf(url).call('turn:stop', { chatId, requestId: second.requestId });
    expect(stopped.turn.stopReason).toBe('stopped');
    await endOf(mine, second.requestId);
  });
});

test('SUB-5, ACC-4: unsharing ends the view of those who may read it no more, and nothing later is in it', async () => {
  const { url } = await startServer({ env: { COALESCE_MS: '0' } });
  const agent = await new Agent(url, ['bot']).join();
  const owner = clientOf(url, { auth: { userId: 'owner', teamId: 't1' } });
  const mate = clientOf(url, { auth: { userId: 'mate', teamId: 't1' }, leaveGraceMs: 0 });
  const { chat: row } = await owner.call('chat:create', { assistantId: 'bot', share: 'team' });
  const mine = await opened(owner, row.chatId);
  const theirs = await opened(mate, row.chatId);
  const run = await agent.run((await mine.start('go')).turn.requestId);
  const messageId = await run.send('shared');
  await shows(theirs, run.requestId, 'shared');
  await mine.update({ share: 'private' });
  const ended = await becomes(theirs.view, ({ status }) => status === 'ended');
  expect(ended).toMatchObject({ reason: 'revoked', error: null, chat: { share: 'team' } });
  await run.append(messageId, ' secret');
  await run.close();
  await endOf(mine, run.requestId);
  expect(answerIn(theirs, run.requestId)).toBe('shared');
  await expect(theirs.start('more')).rejects.toMatchObject({ code: 'not_found' });
  theirs.close();
  await mine.update({ share: 'team' });
  await until(() => mine.view.getSnapshot().chat?.share === 'team', 'the change');
  await opened(mate, row.chatId);
  expect(answerIn(theirs, run.requestId)).toBe('shared secret');
});

test('C58: after a sleep on a dead connection, the client is back with the end of the answer', async () => {
  const { url, chat, chatId, turn } = await scene();
  const proxy = await Proxy.to(url);
  let wake = (): void => undefined;
  const asleep = await opened(
    clientOf(proxy.url, {
      clock: hasty,
      wake: (told) => {
        wake = told;
        return () => undefined;
      },
    }),
    chatId,
  );
  const run = await turn();
  const messageId = await run.send('one');
  await shows(asleep, run.requestId, 'one');
  proxy.freeze();
  await run.append(messageId, ' two');
  await run.close();
  await endOf(chat, run.requestId);
  expect(asleep.view.getSnapshot()).toMatchObject({ status: 'live', isBusy: true });
  wake();
  await endOf(asleep, run.requestId);
  expect(answerIn(asleep, run.requestId)).toBe('one two');
  expect(asleep.view.getSnapshot().isBusy).toBe(false);
  await expectSameViews(url, chat, asleep);
});

describe('older pages', () => {
  /** A chat with so many short messages. */
  async function filled(count: number) {
    const here = await scene();
    const run = await here.turn();
    for (let from = 2; from <= count; from += 1000) {
      const length = Math.min(1000, count - from + 1);
      const op = (_: unknown, index: number) =>
        ({ op: 'send', messageId: uid('m'), type: 'text', props: { content: `${from + index}` } }) as const;
      await run.push(...Array.from({ length }, op));
    }
    await run.close();
    await endOf(here.chat, run.requestId);
    return here;
  }

  test('C40, SUB-3: a page that is slower than the live events neither loses nor repeats any of them', async () => {
    const { url, chat, chatId, turn } = await filled(200);
    const proxy = await Proxy.to(url);
    const reader = await opened(clientOf(proxy.url, { messageLimit: 20 }), chatId);
    expect(messagesOf(reader)).toHaveLength(20);
    const isPage = (frame: string): boolean => /^43\d+\[\{"ok":true,"data":\{"messages":/.test(frame);
    proxy.fate = (frame) => (isPage(frame) ? 'hold' : 'pass');
    const loading = reader.loadOlder(100);
    await proxy.holds(1);
    // What happens while the page is on its way: to messages of the page, and above it.
    const [first, second] = (await httpHistory(url, chatId)).slice(150, 152);
    await chat.updateMessage(first?.messageId ?? '', { props: { content: 'edited' } });
    await chat.deleteMessages([second?.messageId ?? '']);
    const run = await turn('more');
    const messageId = await run.send('live');
    await shows(reader, run.requestId, 'live');
    proxy.release();
    await loading;
    await run.append(messageId, ' on');
    await run.close();
    await endOf(reader, run.requestId);
    const texts = messagesOf(reader).map(textOf);
    expect(texts).toHaveLength(20 + 100 - 1 + 2);
    expect(texts.slice(69, 72)).toEqual(['150', 'edited', '153']);
    while (reader.view.getSnapshot().hasMore) await reader.loadOlder(200);
    await becomes(chat.view, ({ turns }) => turns.get(run.requestId)?.status === 'completed');
    expect(messagesOf(reader).map(plain)).toEqual((await httpHistory(url, chatId)).map(plain));
  });

  test('C40: a connection that drops between asking for a page and having it', async () => {
    const { url, chatId, turn } = await filled(150);
    const proxy = await Proxy.to(url);
    const reader = await opened(clientOf(proxy.url, { messageLimit: 10 }), chatId);
    let cuts = 2;
    proxy.fate = (frame) => (frame.includes('"hasMore":true,"position"') && cuts-- > 0 ? 'cut' : 'pass');
    const loading = reader.loadOlder(100);
    const run = await turn('meanwhile');
    await run.send('answer');
    await run.close();
    await loading;
    expect(proxy.connections).toBe(3);
    await endOf(reader, run.requestId);
    await reader.loadOlder(200);
    expect(messagesOf(reader).map(plain)).toEqual((await httpHistory(url, chatId)).map(plain));
  });

  test('CMD-2: 10,000 messages are loaded page by page, each once and in order', async () => {
    const { url, chatId } = await filled(10_000);
    const reader = await opened(clientOf(url), chatId);
    expect(messagesOf(reader)).toHaveLength(50);
    let pages = 0;
    for (; reader.view.getSnapshot().hasMore; pages++) await reader.loadOlder(200);
    expect(pages).toBe(50);
    expect(messagesOf(reader).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 10_000 }, (_, at) => at + 1),
    );
    expect(messagesOf(reader).slice(1).map(textOf)).toEqual(Array.from({ length: 9_999 }, (_, at) => `${at + 2}`));
    await reader.loadOlder(200);
    expect(messagesOf(reader)).toHaveLength(10_000);
  });
});
