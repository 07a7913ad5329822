import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ErrorBody, Goaway } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { type Peer, uid, type As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { startServer } from '../harness/server.js';
import { isSpread } from '../harness/spread.js';
import { JWT_ENV } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** The error object with which a connection is refused. */
async function refusedConnection(peer: Peer, auth: Record<string, unknown> = {}): Promise<ErrorBody> {
  try {
    await peer.open(auth);
  } catch (error) {
    return (error as { data: ErrorBody }).data;
  }
  throw new Error('the connection was not refused');
}

/** What a WebSocket with these headers is answered: 101 where it is let in. */
async function handshakeAt(port: number, headers: Record<string, string>): Promise<number | string> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`, {
    headers: { cookie: 'session=1', ...headers },
  });
  const outcome = await Promise.race([
    once(ws, 'open').then(() => 101),
    once(ws, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode),
    once(ws, 'error').then(([error]) => String(error)),
  ]);
  ws.terminate();
  return outcome;
}

describe('CON-1, CON-2: who is calling', () => {
  test('CON-1, CON-2: without claims a caller is the local user; hello says who, where and what there is', async () => {
    const { url } = await startServer();
    const [first, second] = [await new Person(url).open(), await new Person(url).open()];
    expect(first.hello).toEqual({
      protocol: 1,
      serverVersion: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      connectionId: expect.stringMatching(/./) as string,
      user: { userId: 'local', teamId: null, tenantId: null, roles: ['user', 'agent'] },
      limits: expect.objectContaining({ maxFrameBytes: 1024 * 1024 }) as object,
      assistants: [{ assistantId: 'echo', name: 'Echo', available: true }],
    });
    expect(second.hello?.connectionId).not.toBe(first.hello?.connectionId);
  });

  test('CON-1: claims name the caller; admin is only who asked for it; HTTP headers say the same', async () => {
    const { url } = await startServer();
    const as: As = { userId: 'Zoë 🐙', teamId: 't1', tenantId: 'n1', roles: ['user', 'admin', 'admin'] };
    const person = await new Person(url, as).open();
    expect(person.hello?.user).toEqual({ ...as, roles: ['user', 'admin'] });
    const chatId = await person.createChat();
    const header = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    const headers = { 'x-user-id': header('Zoë 🐙'), 'x-team-id': 't1', 'x-tenant-id': 'n1', 'x-roles': 'user' };
    expect((await fetch(`${url}/v1/chats/${chatId}`, { headers })).status).toBe(200);
    expect((await fetch(`${url}/v1/chats/${chatId}`)).status).toBe(404);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an empty name', { userId: '' }, 'auth.userId'],
    ['a name that is too long', { userId: 'x'.repeat(201) }, 'auth.userId'],
    ['a name of another type', { tenantId: { $ne: null } }, 'auth.tenantId'],
    ['an ill-formed name', { teamId: 'a\ud800' }, 'auth.teamId'],
    ['an unknown role', { roles: ['root'] }, 'auth.roles.0'],
    ['roles as text', { roles: 'admin' }, 'auth.roles'],
  ])('CON-1: %s is a connect_error with the error object', async (_what, auth, path) => {
    const { url } = await startServer();
    for (const peer of [new Person(url), new Agent(url, ['bot'])]) {
      expect(await refusedConnection(peer, { userId: 'u', ...auth })).toEqual({
        code: 'bad_request',
        message: expect.any(String) as string,
        retryable: false,
        details: { path },
      });
    }
  });

  test('CON-1: another version, or an identity that is no agent on /agents, is refused', async () => {
    const { url } = await startServer();
    for (const protocol of [2, '1', null])
      expect(await refusedConnection(new Person(url), { protocol })).toMatchObject({ code: 'unsupported' });
    expect(await refusedConnection(new Agent(url, ['bot'], { as: { roles: ['user'] } }))).toMatchObject({
      code: 'forbidden',
      retryable: false,
    });
    const raw = await RawSocket.open(url, null);
    raw.send('40/nowhere,{}');
    expect(await raw.packet((packet) => packet.startsWith('4/nowhere'), 'a refusal')).toContain('Invalid namespace');
  });

  test('C09: what is sent in the connect callback, before hello, is served and acknowledged', async () => {
    const { url } = await startServer();
    const seed = await new Person(url).open();
    const chatId = await seed.createChat();
    for (let round = 0; round < 50; round++) {
      const raw = await RawSocket.open(url, null);
      raw.send('40{}');
      await raw.packet((packet) => packet.startsWith('0'), 'connected');
      raw.send(`420["chat:subscribe",{"chatId":"${chatId}"}]`);
      raw.send(`421["turn:start",{"chatId":"${chatId}","input":"x","onBusy":"reject","requestId":"r${round}"}]`);
      raw.send(`422["message:list",{"chatId":"${chatId}"}]`);
      expect(await raw.answer(0)).toMatchObject({ ok: true });
      await raw.answer(1);
      expect(await raw.answer(2)).toMatchObject({ ok: true });
      raw.ws.terminate();
    }
  });
});

describe('CON-3: transports', () => {
  test('C31, CON-3: frames are not compressed, and nothing is recovered behind the back of the protocol', async () => {
    const { url, chatId, person } = await scene();
    const raw = await RawSocket.open(url);
    expect(raw.ws.extensions).toBe('');
    const connected = await raw.packet((packet) => packet.startsWith('0{'), 'connected');
    expect(Object.keys(JSON.parse(connected.slice(1)) as object)).toEqual(['sid']);
    await person.follow(chatId);
    person.drop();
    await until(() => person.disconnectReason, 'the cut');
    await person.open();
    expect(person.socket.recovered).toBeFalsy();
  });

  test('C55: polling is refused at once, with a word that says why', async () => {
    const { url } = await startServer();
    const answer = await fetch(`${url}/socket.io/?EIO=4&transport=polling`);
    expect([answer.status, await answer.json()]).toEqual([400, { code: 0, message: 'Transport unknown' }]);
    await expect(new Person(url).open({}, ['polling'])).rejects.toThrow(/xhr poll error/);
  });

  // It needs sticky routing.
  test.skipIf(isSpread)(
    'C55: with ALLOW_POLLING polling does all that WebSocket does, also across the upgrade',
    async () => {
      const { url } = await startServer({ env: { ALLOW_POLLING: '1' } });
      for (const transports of [['polling'], ['polling', 'websocket']]) {
        const person = await new Person(url).open({}, transports);
        const chatId = await person.createChat();
        await person.follow(chatId);
        const text = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
        const { turn } = await person.start(chatId, text, { metadata: { delayMs: 2 } });
        await person.ended(chatId, turn.requestId);
        expect(person.chats.get(chatId)?.text(turn.requestId)).toBe(text);
        expect(person.socket.io.engine.transport.name).toBe(transports.at(-1));
      }
    },
  );

  test("C51: a page of another origin opens no socket; an allowed one, this server's own and programs do", async () => {
    const { url, port } = await startServer({ env: { ALLOW_POLLING: '1', CORS_ORIGINS: 'https://app.example.com' } });
    const handshake = (headers: Record<string, string>) => handshakeAt(port, headers);
    const evil = { origin: 'https://evil.example' };
    const allowed = { origin: 'https://app.example.com' };
    expect(await handshake(evil)).toBe(400);
    expect(await handshake({ origin: 'null' })).toBe(400);
    expect(await handshake({ host: 'rebound.example', origin: 'http://rebound.example' })).toBe(400);
    expect(await handshake(allowed)).toBe(101);
    expect(await handshake({ origin: url })).toBe(101);
    expect(await handshake({})).toBe(101);
    const polling = `${url}/socket.io/?EIO=4&transport=polling`;
    const refused = await fetch(polling, { headers: evil });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const served = await fetch(polling, { headers: allowed });
    expect([served.status, served.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://app.example.com',
    ]);
    const preflight = (headers: Record<string, string>) =>
      fetch(`${url}/v1/chats`, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST', ...headers } });
    expect((await preflight(allowed)).headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect((await preflight(evil)).headers.get('access-control-allow-origin')).toBeNull();
    const write = await fetch(`${url}/v1/chats`, {
      method: 'POST',
      headers: { ...evil, 'content-type': 'application/json' },
      body: '{"assistantId":"echo"}',
    });
    expect(write.status).toBe(403);
  });

  test.each<[string, Record<string, string>]>([
    ['without tokens', {}],
    ['with tokens', JWT_ENV],
    ['on any address', { ALLOW_INSECURE: '1' }],
  ])("C51: without CORS_ORIGINS no origin but this server's own opens a socket (%s)", async (_, env) => {
    const { url, port } = await startServer({ env });
    const foreign = ['https://app.example.com', `https://127.0.0.1:${port + 1}`, 'http://127.0.0.1', 'null', ''];
    for (const origin of foreign) expect(await handshakeAt(port, { origin }), origin).toBe(400);
    expect(await handshakeAt(port, { origin: url })).toBe(101);
    expect(await handshakeAt(port, {}), 'a program').toBe(101);
  });
});

describe('CON-5: auth:refresh', () => {
  test('CON-5: renews the identity in place: who it is and what it follows stay', async () => {
    const { url } = await startServer();
    const person = await new Person(url, { userId: 'u1', tenantId: 'n1' }).open();
    const chatId = await person.createChat();
    await person.follow(chatId);
    const { turn } = await person.start(chatId, 'one two three four', { metadata: { delayMs: 5 } });
    expect(await person.do('auth:refresh', { token: 'new' })).toEqual({ expiresAt: null });
    for (const args of [undefined, {}, { token: '' }, { token: 42 }, { token: 'x'.repeat(20_000) }]) {
      expect(await person.refused('auth:refresh', args)).toMatchObject({
        code: 'bad_request',
        details: { path: 'token' },
      });
    }
    expect((await person.do('chat:get', { chatId })).chat.createdBy).toBe('u1');
    await person.ended(chatId, turn.requestId);
    expect(person.chats.get(chatId)?.text(turn.requestId)).toBe('one two three four');
  });
});

describe('CON-6: going on purpose', () => {
  test('CON-6: a server that closes says so, to people and agents, and that they may come back', async () => {
    const here = await scene();
    await here.server.close();
    const goaway: Goaway = { code: 'shutdown', reconnect: true };
    for (const peer of [here.person, here.agent]) {
      await until(() => peer.disconnectReason, 'the end');
      expect(peer.goaways).toMatchObject([goaway]);
      expect(peer.disconnectReason).toBe('io server disconnect');
    }
  });

  test('CON-6: one who does not read holds nothing up and is cut off after 2 s', async () => {
    const { server, url, chatId } = await scene();
    const raw = await RawSocket.open(url);
    await raw.ask('chat:subscribe', JSON.stringify({ chatId }));
    raw.pause();
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeLessThan(4000);
    raw.resume();
    await raw.gone();
    expect(raw.bodies<Goaway>('goaway')).toMatchObject([{ code: 'shutdown' }]);
  });

  // Each node counts its own.
  test.skipIf(isSpread)(
    'CON-6: a user with too many connections is refused by name until one of them goes',
    async () => {
      const { url } = await startServer({ env: { MAX_CONNECTIONS_PER_USER: '2' } });
      const [first] = [await new Person(url).open(), await new Agent(url, ['bot'], { as: { userId: 'local' } }).open()];
      expect(await refusedConnection(new Person(url))).toMatchObject({
        code: 'too_many_connections',
        retryable: true,
        retryAfterMs: expect.any(Number) as number,
      });
      expect(await new Person(url, { userId: uid('u') }).open()).toMatchObject({ disconnectReason: null });
      expect(await new Person(url, { tenantId: 'other' }).open()).toMatchObject({ disconnectReason: null });
      first.close();
      await until(
        () =>
          new Person(url).open().then(
            () => true,
            () => false,
          ),
        'a free place',
      );
    },
  );
});
