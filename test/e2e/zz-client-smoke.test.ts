import { expect, it, onTestFinished } from 'vitest';
import { attachAgent, defineAssistant, type AgentOptions } from '../../client/agent/index.js';
import { createChatClient, type Chat, type ChatClientOptions } from '../../client/index.js';
import { startServer } from '../harness/server.js';
import { becomes } from '../unit/client/scripted-server.js';
import type { Link, Transport } from '../../client/transport.js';
import { createSocketTransport } from '../../client/index.js';

function droppable(url: string, namespace = '/'): Transport & { drop(): void } {
  const inner = createSocketTransport({ url, namespace });
  let current: { link: Link; closed: (why: string) => void } | null = null;
  return {
    open(handshake, listener) {
      const link = inner.open(handshake, listener);
      current = { link, closed: listener.closed };
      return link;
    },
    drop() {
      current?.link.close();
      current?.closed('test');
    },
  };
}
const person = (options: ChatClientOptions) => {
  const client = createChatClient({ backoff: { minMs: 5, maxMs: 50 }, ...options });
  onTestFinished(() => client.close());
  return client;
};
const agentOf = (options: Omit<AgentOptions, 'agentId'>) => {
  const agent = attachAgent({ agentId: 'a1', backoff: { minMs: 5, maxMs: 50 }, ...options });
  onTestFinished(() => agent.close({ drain: false }));
  return agent;
};
const texts = (chat: Chat) => chat.view.getSnapshot().messages.map((m) => m.props['content']);

it('echo, with drops, create, older, stop, resume', async () => {
  const server = await startServer();
  const network = droppable(server.url);
  const client = person({ transport: network });
  const chat = client.chat(client.newId());
  chat.open();
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ');
  const started = await chat.start(words, { assistantId: 'echo', createChat: true, metadata: { delayMs: 10 } });
  for (let i = 0; i < 5; i++) {
    await new Promise((r) => setTimeout(r, 60));
    network.drop();
  }
  await becomes(chat.view, (s) => s.turns.get(started.turn.requestId)?.status === 'completed');
  expect(texts(chat)).toEqual([words, words]);
  expect(chat.view.getSnapshot().pending).toEqual([]);
  const page = await client.call('message:list', { chatId: chat.chatId });
  expect(page.messages.map((m) => m.props['content'])).toEqual([words, words]);

  const long = chat.start(words, { metadata: { delayMs: 50 } });
  await becomes(chat.view, (s) => s.isBusy);
  await new Promise((r) => setTimeout(r, 200));
  const stopped = await chat.stop();
  expect(stopped.turn.status).toBe('interrupted');
  await long;
  await becomes(chat.view, (s) => !s.isBusy);
  const resumed = await chat.resume();
  expect(resumed.turn.attempt).toBe(2);
  await becomes(chat.view, (s) => s.turns.get(stopped.turn.requestId)?.status === 'completed');
  expect(texts(chat)).toEqual([words, words, words, words]);
  for (let i = 0; i < 30; i++) await chat.start(`m${i}`, { metadata: { delayMs: 0 } });
  await becomes(chat.view, (s) => !s.isBusy && s.pending.length === 0);
  const other = person({ url: server.url, messageLimit: 5 }).chat(chat.chatId);
  other.open();
  await becomes(other.view, (s) => s.status === 'live');
  expect(other.view.getSnapshot().messages).toHaveLength(5);
  while (other.view.getSnapshot().hasMore) await other.loadOlder(7);
  const strip = (c: Chat) => c.view.getSnapshot().messages.map(({ updatedAt: _u, ...m }) => m);
  expect(strip(other)).toEqual(strip(chat));
  expect(other.view.getSnapshot().messages).toHaveLength(64);
  await chat.delete();
  await becomes(other.view, (s) => s.status === 'ended');
  expect(other.view.getSnapshot().reason).toBe('deleted');
});

it('agent with drops and a thousand awaited appends', async () => {
  const server = await startServer();
  const network = droppable(server.url, '/agents');
  const errors: unknown[] = [];
  const bot = defineAssistant({
    assistantId: 'bot',
    async run(ctx) {
      const id = await ctx.send('');
      await ctx.append('no-such-message-at-all', 'x').catch((e) => errors.push(e.code, e.details));
      for (let i = 0; i < 2000; i++) {
        await ctx.append(id, `${i},`);
        if (i % 400 === 399) { await new Promise((r) => setTimeout(r, 20)); network.drop(); }
      }
      await ctx.end(id);
      return { n: 2000 };
    },
  });
  const agent = agentOf({ transport: network, assistants: [bot] });
  await becomes(agent.state, (s) => s.attached);
  const client = person({ url: server.url });
  const chat = client.chat(client.newId());
  chat.open();
  const t = Date.now();
  const started = await chat.start('go', { assistantId: 'bot', createChat: true });
  const end = await becomes(chat.view, (s) => ['completed', 'failed', 'interrupted'].includes(s.turns.get(started.turn.requestId)?.status ?? ''));
  console.log('took', Date.now() - t, end.turns.get(started.turn.requestId));
  expect(texts(chat)[1]).toBe(Array.from({ length: 2000 }, (_, i) => `${i},`).join(''));
  expect(errors[0]).toBe('bad_request');

  const opened = await agent.openTurn({ chatId: chat.chatId, assistantId: 'bot' }, async (ctx) => { await ctx.send('report'); });
  const ending = await opened.ended;
  console.log(ending);
  expect(ending).toMatchObject({ status: 'completed', persisted: true });
  await becomes(chat.view, () => texts(chat).includes('report'));
});
