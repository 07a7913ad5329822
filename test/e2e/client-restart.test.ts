import { expect, test } from 'vitest';
import type { Chat } from '../../client/index.js';
import { isEnded } from '../../protocol/index.js';
import { becomes } from '../harness/becomes.js';
import { Proxy } from '../harness/proxy.js';
import { answerIn, clientOf, endOf, expectSameViews, hasty, opened, textOf } from '../harness/sdk.js';
import { ServerProcess } from '../harness/server-process.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';

const WORDS = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ');

/** The most that a client has shown of an answer. */
function watchOf(chat: Chat, requestId: string): { readonly text: string } {
  const seen = { text: '' };
  const end = chat.view.subscribe(() => {
    const text = answerIn(chat, requestId);
    if (text.length > seen.text.length) seen.text = text;
    if (chat.view.getSnapshot().status === 'ended') end();
  });
  return seen;
}

test('LIF-2, C08: after kill -9 in mid-answer the clients show every word that they saw, and go on by themselves', async () => {
  const server = await new ServerProcess({ COALESCE_MS: '0' }).start();
  const client = clientOf(server.url);
  const other = clientOf(server.url);
  const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
  const chat = await opened(client, chatId);
  const watching = await opened(other, chatId);
  const { turn } = await chat.start(WORDS, { metadata: { delayMs: 5 } });
  const seen = watchOf(chat, turn.requestId);
  await becomes(chat.view, () => answerIn(chat, turn.requestId).includes('word20'));
  await server.kill();
  await becomes(chat.view, ({ status }) => status === 'stale');
  // What is held stays in sight, and what is said meanwhile waits.
  expect(answerIn(chat, turn.requestId)).toBe(seen.text);
  const meanwhile = chat.start('meanwhile', { metadata: { delayMs: 0 } });
  await server.start();
  expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
  const { turn: next } = await meanwhile;
  await endOf(chat, next.requestId);
  expect(answerIn(chat, next.requestId)).toBe('meanwhile');
  const kept = answerIn(chat, turn.requestId);
  expect(kept.startsWith(seen.text)).toBe(true);
  expect(WORDS.startsWith(kept)).toBe(true);
  await endOf(watching, next.requestId);
  await expectSameViews(server.url, chat, watching);

  const resumed = await chat.resume({ requestId: turn.requestId });
  expect(resumed.turn.attempt).toBe(2);
  expect(await endOf(watching, turn.requestId, 2)).toMatchObject({ status: 'completed' });
  await endOf(chat, turn.requestId, 2);
  expect(answerIn(chat, turn.requestId)).toBe(WORDS);
  await expectSameViews(server.url, chat, watching);
});

test('C06, LIF-2: a start whose answer went with the server is the same turn after the restart', async () => {
  const server = await new ServerProcess().start();
  const proxy = await Proxy.to(server.url);
  const client = clientOf(proxy.url);
  const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
  const chat = await opened(client, chatId);
  proxy.fate = (frame) => (frame.includes('"ok":true,"data":{"turn":') ? 'hold' : 'pass');
  const started = chat.start('once', { metadata: { delayMs: 0 } });
  await proxy.holds(1);
  await server.kill();
  proxy.release();
  proxy.cut();
  await server.start();
  const { turn } = await started;
  await becomes(chat.view, ({ turns }) => isEnded(turns.get(turn.requestId)?.status ?? 'queued'));
  const { messages } = chat.view.getSnapshot();
  expect(messages.filter(({ role }) => role === 'user').map(textOf)).toEqual(['once']);
  await expectSameViews(server.url, chat);
});

test('LIF-1, CON-6: a server that drains and starts again is left by goaway; a start refused meanwhile is sent after the move', async () => {
  const server = await new ServerProcess({ COALESCE_MS: '0', DRAIN_MS: '500' }).start();
  const client = clientOf(server.url, { clock: hasty });
  const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
  const chat = await opened(client, chatId);
  const { turn } = await chat.start(WORDS, { metadata: { delayMs: 20 } });
  const seen = watchOf(chat, turn.requestId);
  await becomes(chat.view, () => answerIn(chat, turn.requestId).includes('word5'));
  const gone = server.signal('SIGTERM');
  // Ready until the drain begins: from then on, starts are refused.
  await until(async () => !(await fetch(`${server.url}/readyz`)).ok, 'the drain');
  const meanwhile = chat.start('meanwhile', { metadata: { delayMs: 0 } });
  const waiting = await becomes(client.connection, ({ status }) => status === 'waiting');
  expect(waiting).toMatchObject({ error: { code: 'draining', details: { goaway: 'shutdown' } } });
  expect(await gone).toBe(0);
  expect(chat.view.getSnapshot()).toMatchObject({ status: 'stale', pending: [{ error: null }] });
  expect(answerIn(chat, turn.requestId)).toBe(seen.text);
  await server.start();
  const { turn: next, duplicate } = await meanwhile;
  expect(duplicate).toBe(false);
  await endOf(chat, next.requestId);
  expect(chat.view.getSnapshot().turns.get(turn.requestId)).toMatchObject({ stopReason: 'shutdown' });
  expect(answerIn(chat, turn.requestId)).toBe(seen.text);
  await expectSameViews(server.url, chat);
});

test('LIF-1: a client moves on to the next server in the time of a restart in-process', async () => {
  const first = await startServer();
  const client = clientOf(first.url, { clock: hasty });
  const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
  const chat = await opened(client, chatId);
  const { turn } = await chat.start('before', { metadata: { delayMs: 0 } });
  await endOf(chat, turn.requestId);
  const epoch = chat.view.getSnapshot().position?.epoch;
  await first.drain();
  await startServer({ dataDir: first.dataDir, env: { PORT: `${first.port}` } });
  const { position } = await becomes(chat.view, ({ status }) => status === 'live');
  expect(position?.epoch).not.toBe(epoch);
  const { turn: next } = await chat.start('after', { metadata: { delayMs: 0 } });
  await endOf(chat, next.requestId);
  expect((await expectSameViews(first.url, chat)).map(textOf)).toEqual(['before', 'before', 'after', 'after']);
});
