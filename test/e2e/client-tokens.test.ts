import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { attachAgent } from '../../client/agent/index.js';
import type { ChatClient, ChatClientOptions } from '../../client/index.js';
import { ChatError } from '../../protocol/index.js';
import { Deferred } from '../../server/session/deferred.js';
import { becomes } from '../harness/becomes.js';
import { Proxy } from '../harness/proxy.js';
import { agentOf, answerIn, clientOf, endOf, messagesOf, opened } from '../harness/sdk.js';
import { startServer, type ServerOptions } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { ALICE, BOB, BOT, GRACE_MS, SHORT_OVER_MS, SHORT_S, tokenServer, type TokenServer } from './token-scene.js';

type Source = Extract<NonNullable<ChatClientOptions['token']>, (...args: never[]) => unknown>;
type Asked = Parameters<Source>[0];

/** A function that gives tokens, and notes why it was asked for each. */
function source(give: (call: number, asked: Asked) => string | Promise<string>) {
  const asked: (string | null)[] = [];
  return {
    asked,
    token: (request: Asked) => {
      asked.push(request.refused?.code ?? null);
      return give(asked.length, request);
    },
  };
}

async function network(options: ServerOptions = {}) {
  const base = await tokenServer(options);
  return { ...base, proxy: await Proxy.to(base.url) };
}

const closed = (client: ChatClient) => becomes(client.connection, ({ status }) => status === 'closed');
const open = (client: ChatClient) => becomes(client.connection, ({ status }) => status === 'open');
/** The client has heard that its token is over. */
const told = (client: ChatClient) =>
  becomes(client.connection, (state) => state.status === 'open' && state.goaway?.code === 'token_expired');

/** Time enough for a client that would try again: its longest wait is 50 ms, and others connect and work meanwhile. */
async function meanwhile({ url, token }: TokenServer): Promise<void> {
  const other = clientOf(url, { token: () => token(BOB) });
  const end = performance.now() + 200;
  await until(async () => (await other.call('chat:list', {})) && performance.now() > end, 'what others do');
}

describe('C30: a function that gives tokens', () => {
  test('a token that ends is renewed in place: the connection stands, nothing is lost', async () => {
    const { url, proxy, clock, token } = await network();
    const { token: give, asked } = source(() => token(ALICE, SHORT_S));
    const client = clientOf(proxy.url, { token: give });
    const { chatId } = (await client.call('chat:create', { assistantId: 'echo', share: 'team' })).chat;
    const chat = await opened(client, chatId);
    const other = await opened(clientOf(url, { token: () => token(BOB) }), chatId);
    const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
    const { turn } = await chat.start(words, { metadata: { delayMs: 5 } });
    const statuses = new Set<string>();
    chat.view.subscribe(() => statuses.add(chat.view.getSnapshot().status));
    for (const word of ['w10 ', 'w30 ', 'w50 ']) {
      await becomes(other.view, () => answerIn(other, turn.requestId).includes(word));
      const calls = asked.length;
      clock.advance(SHORT_OVER_MS);
      await until(() => asked.length > calls, 'asked for a token');
    }
    await endOf(chat, turn.requestId);
    await endOf(other, turn.requestId);
    expect(answerIn(chat, turn.requestId)).toBe(words);
    expect(messagesOf(chat)).toEqual(messagesOf(other));
    expect(proxy.connections).toBe(1);
    expect(asked).toHaveLength(4);
    expect([...statuses], 'never anything but live').toEqual(['live']);
    await becomes(client.connection, (state) => state.status === 'open' && state.goaway === null);
    clock.advance(GRACE_MS * 2);
    await client.call('chat:list', {});
    expect(proxy.connections).toBe(1);
  });

  test('commands that are given meanwhile wait, in their order, and are answered', async () => {
    const { proxy, clock, token } = await network();
    const fresh = new Deferred<string>();
    const { token: give, asked } = source((call) => (call === 1 ? token(ALICE, SHORT_S) : fresh.promise));
    const client = clientOf(proxy.url, { token: give });
    const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
    clock.advance(SHORT_OVER_MS);
    const answers = Promise.all(
      Array.from({ length: 20 }, (_, index) => client.call('chat:update', { chatId, title: `title ${index}` })),
    );
    await told(client);
    const later = client.call('chat:get', { chatId });
    await until(() => asked.length === 2, 'asked for a token');
    fresh.resolve(await token(ALICE));
    expect((await answers).map(({ chat }) => chat.title)).toEqual(
      Array.from({ length: 20 }, (_, index) => `title ${index}`),
    );
    expect((await later).chat.title).toBe('title 19');
    expect(proxy.connections).toBe(1);
    expect(asked).toHaveLength(2);
  });

  test('the function is told that the token it gave last has expired, so that it does not give it again', async () => {
    const { proxy, clock, token } = await network();
    let cached: string | null = null;
    const { token: give, asked } = source(async (_, { refused }) => {
      if (refused) cached = null;
      return (cached ??= await token(ALICE, SHORT_S));
    });
    const client = clientOf(proxy.url, { token: give });
    await client.call('chat:list', {});
    clock.advance(SHORT_OVER_MS);
    await told(client);
    await becomes(client.connection, (state) => state.status === 'open' && state.goaway === null, 2_000);
    expect(asked).toEqual([null, 'token_expired']);
    expect(proxy.connections).toBe(1);
  });

  test('a bad token is asked for anew once, and then no more', async () => {
    const scene = await network();
    const { token: give, asked } = source(async () => 'x');
    const client = clientOf(scene.proxy.url, { token: give });
    const call = client.call('chat:list', {});
    await expect(call).rejects.toMatchObject({ code: 'unauthenticated', details: { reason: 'closed' } });
    expect(await closed(client)).toMatchObject({ error: { code: 'unauthenticated' } });
    await meanwhile(scene);
    expect(asked).toEqual([null, 'unauthenticated']);
    expect(scene.proxy.connections).toBe(2);
    await expect(client.call('chat:list', {})).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(scene.proxy.connections).toBe(2);
  });

  test('a good one after a refusal is taken', async () => {
    const { proxy, token } = await network();
    const { token: give, asked } = source((call) => token(ALICE, call === 1 ? -10 : 60));
    const client = clientOf(proxy.url, { token: give });
    await client.call('chat:list', {});
    expect(asked).toEqual([null, 'token_expired']);
    expect(proxy.connections).toBe(2);
  });

  test('who has no fresh token any more is closed at the end of the grace, and not for ever on their way', async () => {
    const scene = await network();
    const { proxy, clock, token } = scene;
    const first = await token(ALICE, SHORT_S);
    const { token: give, asked } = source(async () => first);
    const client = clientOf(proxy.url, { token: give });
    await client.call('chat:list', {});
    clock.advance(SHORT_OVER_MS);
    const call = client.call('chat:list', {});
    await told(client);
    clock.advance(GRACE_MS);
    expect(await closed(client)).toMatchObject({ error: { code: 'token_expired' } });
    await expect(call).rejects.toMatchObject({ code: 'token_expired' });
    await meanwhile(scene);
    expect(asked.at(-1)).toBe('token_expired');
    expect(asked.length).toBeLessThanOrEqual(4);
    expect(proxy.connections).toBe(3);
  });

  test('one that fails for good closes the client with its reason', async () => {
    const scene = await network();
    const { token: give, asked } = source(() => Promise.reject(new ChatError('forbidden', 'signed out')));
    const client = clientOf(scene.proxy.url, { token: give });
    expect(await closed(client)).toMatchObject({ error: { code: 'forbidden', message: 'signed out' } });
    await meanwhile(scene);
    expect(asked).toEqual([null]);
    expect(scene.proxy.connections).toBe(0);
  });

  test('one that fails for now is asked again, and nobody connects without a token', async () => {
    const { proxy, token } = await network();
    const { token: give, asked } = source((call) => {
      if (call === 1) throw new Error('the network is away');
      if (call === 2) return Promise.reject(new ChatError('storage_unavailable'));
      return token(ALICE);
    });
    const client = clientOf(proxy.url, { token: give });
    await client.call('chat:list', {});
    expect(asked).toEqual([null, null, null]);
    expect(proxy.connections).toBe(1);
  });

  test('one that fails at the end of the token: for now, the client comes back; for good, it is closed', async () => {
    const { proxy, clock, token } = await network();
    const { token: give } = source((call) => {
      if (call === 2) throw new Error('the network is away');
      if (call > 3) throw new ChatError('forbidden', 'signed out');
      return token(ALICE, SHORT_S);
    });
    const client = clientOf(proxy.url, { token: give });
    const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
    const chat = await opened(client, chatId);
    clock.advance(SHORT_OVER_MS);
    await told(client);
    const call = client.call('chat:get', { chatId });
    clock.advance(GRACE_MS);
    await call;
    await becomes(chat.view, ({ status }) => status === 'live');
    expect(proxy.connections).toBe(2);
    clock.advance(SHORT_OVER_MS);
    await told(client);
    clock.advance(GRACE_MS);
    expect(await closed(client)).toMatchObject({ error: { code: 'forbidden', message: 'signed out' } });
    expect(proxy.connections).toBe(2);
  });

  test('one that never answers at the end of a token does not keep later ones from being renewed', async () => {
    const { proxy, clock, token } = await network();
    const { token: give, asked } = source((call) => (call === 2 ? new Promise(() => {}) : token(ALICE, SHORT_S)));
    const client = clientOf(proxy.url, { token: give });
    await client.call('chat:list', {});
    clock.advance(SHORT_OVER_MS);
    await told(client);
    clock.advance(GRACE_MS);
    await until(() => asked.length === 3, 'asked for the next connection');
    await open(client);
    await client.call('chat:list', {});
    clock.advance(SHORT_OVER_MS);
    await told(client);
    await becomes(client.connection, (state) => state.status === 'open' && state.goaway === null, 2_000);
    expect(proxy.connections).toBe(2);
  });
});

describe('C30: a token that is a text', () => {
  test('once it has expired the client closes as `token_expired`, without a loop', async () => {
    const scene = await network();
    const { proxy, clock, token } = scene;
    const client = clientOf(proxy.url, { token: await token(ALICE, SHORT_S) });
    const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
    const chat = await opened(client, chatId);
    clock.advance(SHORT_OVER_MS);
    await expect(client.call('chat:list', {})).rejects.toMatchObject({ code: 'token_expired' });
    await told(client);
    clock.advance(GRACE_MS);
    expect(await closed(client)).toMatchObject({ error: { code: 'token_expired' } });
    expect(chat.view.getSnapshot().status).not.toBe('live');
    await meanwhile(scene);
    expect(proxy.connections).toBe(2);
  });

  test('a bad one closes the client at once', async () => {
    const scene = await network();
    const client = clientOf(scene.proxy.url, { token: 'x' });
    expect(await closed(client)).toMatchObject({ error: { code: 'unauthenticated' } });
    await meanwhile(scene);
    expect(scene.proxy.connections).toBe(1);
  });
});

describe('CON-5: an agent', () => {
  test('whose tokens last a second or two streams over the ends of several, and loses nothing', async () => {
    const { url } = await startServer({ env: { ...JWT_ENV, COALESCE_MS: '0' } });
    const proxy = await Proxy.to(url);
    const { token: give, asked } = source(() => tokenFor(BOT, { claims: { exp: Math.ceil(Date.now() / 1000) + 1 } }));
    let written = '';
    const bot = defineAssistant({
      assistantId: 'bot',
      async run(ctx) {
        const id = await ctx.send('');
        for (let index = 0; asked.length < 4; index++) {
          written += `${index} `;
          await ctx.append(id, `${index} `);
          if (index % 10 === 0) await ctx.wait(3);
        }
        await ctx.step('tool', 1, () => 2);
        written += 'end';
        await ctx.append(id, 'end');
      },
    });
    await agentOf(proxy.url, [bot], { token: give });
    const client = clientOf(url, { token: () => tokenFor(ALICE) });
    const { chatId } = (await client.call('chat:create', { assistantId: 'bot' })).chat;
    const chat = await opened(client, chatId);
    const { turn } = await chat.start('go');
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'completed' });
    expect(answerIn(chat, turn.requestId)).toBe(written);
    expect(written.length).toBeGreaterThan(1_000);
    expect(proxy.connections).toBe(1);
  });

  test('that has no fresh token ends, and its turns are taken from it', async () => {
    const { url, proxy, clock, token } = await network({ env: { AGENT_GRACE_MS: '1000' } });
    const first = await token(BOT, SHORT_S);
    const { token: give } = source(async () => first);
    const hung = new Deferred<void>();
    const bot = defineAssistant({
      assistantId: 'bot',
      async run(ctx) {
        await ctx.send('begun');
        await hung.promise;
      },
    });
    const agent = attachAgent({
      url: proxy.url,
      agentId: 'a',
      assistants: [bot],
      token: give,
      backoff: { minMs: 5, maxMs: 50 },
      onError: () => undefined,
    });
    await becomes(agent.state, ({ attached }) => attached);
    const client = clientOf(url, { token: () => token(ALICE) });
    const { chatId } = (await client.call('chat:create', { assistantId: 'bot' })).chat;
    const chat = await opened(client, chatId);
    const { turn } = await chat.start('go');
    await becomes(chat.view, () => answerIn(chat, turn.requestId) === 'begun');
    clock.advance(SHORT_OVER_MS);
    await becomes(
      agent.state,
      ({ connection }) => connection.status === 'open' && connection.goaway?.code === 'token_expired',
    );
    clock.advance(GRACE_MS);
    const { connection } = await becomes(agent.state, ({ connection }) => connection.status === 'closed');
    expect(connection).toMatchObject({ error: { code: 'token_expired' } });
    clock.advance(1_100);
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'agent_lost' });
    expect(proxy.connections).toBe(3);
    hung.resolve();
    await agent.close({ drain: false });
  });
});
