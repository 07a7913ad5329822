import { EventEmitter, once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock, type Clock } from '../../server/clock.js';
import { createHttpServer } from '../../server/wire/http/server.js';
import type { EngineConnection } from '../../server/wire/tcp-of.js';
import { Vestibule } from '../../server/wire/vestibule.js';
import { metric } from '../harness/metric.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

/** Socket.IO's `connectTimeout` and the server's time for a head are 10 s each; it looks once a second. */
const GIVEN_UP_MS = 15_000;

const people = (url: string) => metric(url, 'turnstream_connections{namespace="people"}');
const agents = (url: string) => metric(url, 'turnstream_connections{namespace="agents"}');

/** A socket that has not said who it is; null where it was not let in. */
const knock = (url: string): Promise<RawSocket | null> => RawSocket.open(url, null).catch(() => null);

async function crowd(url: string, size: number): Promise<RawSocket[]> {
  const knocks = await Promise.all(Array.from({ length: size }, () => knock(url)));
  return knocks.filter((raw) => raw !== null);
}

/** What a handshake is answered from an address, as a trusted proxy tells it. */
async function knockFrom(address: string, url: string, query = ''): Promise<number> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket${query}`, {
    headers: { 'x-forwarded-for': address },
  });
  onTestFinished(() => ws.terminate());
  ws.on('error', () => undefined);
  return Promise.race([
    once(ws, 'open').then(() => 101),
    once(ws, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode),
  ]);
}

/** A TCP connection that reads all and, where it is stubborn, never closes its own side. */
function tcp(port: number, first: string, { allowHalfOpen = false, drip = '' } = {}) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  const peer = { socket, text: '', closed: false };
  const timer = setInterval(() => drip !== '' && socket.write(drip), 100);
  socket.on('data', (chunk) => (peer.text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    peer.closed = true;
  });
  if (first !== '') socket.write(first);
  onTestFinished(() => void socket.destroy());
  return peer;
}

/** Writes one word after the other into a turn while something goes on. @returns the longest that one of them was under way */
async function streamWhile(here: Scene, goesOn: () => boolean): Promise<number> {
  const run = await here.turn();
  const messageId = await run.send('');
  let longest = 0;
  let words = '';
  for (let index = 0; goesOn(); index++) {
    const began = performance.now();
    words += `${index} `;
    await run.append(messageId, `${index} `);
    await until(() => here.view.text(run.requestId) === words, 'a word that was sent');
    longest = Math.max(longest, performance.now() - began);
  }
  await run.close();
  const { turn } = await here.person.ended(here.chatId, run.requestId);
  expect(turn.status).toBe('completed');
  return longest;
}

describe('MAX_HANDSHAKES_PER_ADDRESS', () => {
  const env = { ...JWT_ENV, MAX_HANDSHAKES_PER_ADDRESS: '5', TRUST_PROXY: 'loopback' };

  test('so many sockets of one address may not have said who they are; whoever says it, or goes, makes room', async () => {
    const { url } = await startServer({ env });
    const inside = await crowd(url, 60);
    expect(inside.length).toBe(5);
    expect(await knockFrom('127.0.0.1', url)).toBe(400);
    expect(await knockFrom('203.0.113.1', url), 'another address').toBe(101);
    expect((await fetch(`${url}/healthz`)).status, 'requests are no handshakes').toBe(200);
    const [known, gone] = inside as [RawSocket, RawSocket];
    known.send(`40${JSON.stringify({ token: await tokenFor({ userId: 'u' }) })}`);
    await known.packet((packet) => packet.includes('["hello"'), 'hello');
    expect((await crowd(url, 20)).length).toBe(1);
    gone.ws.terminate();
    await until(() => knock(url), 'a free place');
    // A refused token makes none: who stands there is as unknown as before.
    inside[2]?.send('40{"token":"a.b.c"}');
    await inside[2]?.packet((packet) => packet.startsWith('4{'), 'a refusal');
    expect(await knock(url)).toBeNull();
  });

  test('one network is one address, whatever its callers call themselves', async () => {
    const { url } = await startServer({ env });
    for (let host = 1; host <= 5; host++) expect(await knockFrom(`2001:db8::${host}`, url)).toBe(101);
    expect(await knockFrom('2001:db8::6', url)).toBe(400);
    expect(await knockFrom('1.1.1.1, 2001:db8::7', url), 'what a caller put in front').toBe(400);
    expect(await knockFrom('2001:db8:1::1', url)).toBe(101);
  });

  test.each(['&sid=', '&x=sid=1', '&sid=&sid='])('no word in the address is a way around it: %s', async (query) => {
    const { url } = await startServer({ env });
    await crowd(url, 5);
    expect(await knockFrom('127.0.0.1', url, query)).toBe(400);
  });
});

describe('who says nothing', () => {
  test('SUB-3: sockets that never join, silent connections and endless heads are closed; a stream runs on without a gap', async () => {
    const here = await scene({ env: { MAX_HANDSHAKES_PER_ADDRESS: '150' } });
    const { url, server } = here;
    const descriptors = () => metric(url, 'turnstream_process_open_fds');
    const before = await descriptors();
    expect(before).toBeGreaterThan(0);
    const sockets = await crowd(url, 200);
    expect(sockets.length).toBe(150);
    const head = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ';
    const connections = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? tcp(server.port, '') : tcp(server.port, head, { drip: 'x' }),
    );
    const began = performance.now();
    const isOver = () => sockets.every(({ closed }) => closed !== null) && connections.every(({ closed }) => closed);
    const longest = await streamWhile(here, () => {
      expect(performance.now() - began, 'the time in which all are given up').toBeLessThan(GIVEN_UP_MS);
      return !isOver();
    });
    expect(longest).toBeLessThan(2000);
    expect(performance.now() - began, 'nobody is cut off at once').toBeGreaterThan(5000);
    expect(connections.every(({ text }) => text === '' || text.includes('"code":"bad_request"'))).toBe(true);
    await until(async () => (await descriptors()) <= before + 5, 'all that they held');
    expect(await people(url)).toBe(1);
    expect((await crowd(url, 150)).length, 'their places').toBe(150);
  });

  test('a socket that sends 64 KiB and has not said who it is is closed, one that is known is not', async () => {
    const { url } = await startServer({ env: JWT_ENV });
    const attempt = `40{"token":"${'x'.repeat(40_000)}"}`;
    const raw = (await knock(url)) as RawSocket;
    raw.send(attempt);
    await raw.packet((packet) => packet.startsWith('4{'), 'a refusal of a token');
    raw.send(attempt);
    await raw.gone();
    expect(raw.packets.length).toBe(1);
    // What is never whole counts as well.
    const endless = (await knock(url)) as RawSocket;
    for (let part = 0; part < 7; part++) endless.ws.send('x'.repeat(10_000), { fin: false });
    await endless.gone();
    const known = (await knock(url)) as RawSocket;
    known.send(`40${JSON.stringify({ token: await tokenFor({ userId: 'u' }) })}`);
    await known.packet((packet) => packet.includes('["hello"'), 'hello');
    for (let round = 0; round < 4; round++)
      expect(await known.ask('chat:list', `{"keywords":"${'x'.repeat(40_000)}"}`)).toMatchObject({ ok: false });
    expect(known.closed).toBeNull();
  });
});

describe('who leaves', () => {
  const agent = '{"userId":"u","roles":["agent"]}';

  test.each(['41', '41,', '41/,'])('CON-6: %s ends a connection that is in no other namespace', async (packet) => {
    const { url } = await startServer();
    const raw = await RawSocket.open(url);
    expect(await people(url)).toBe(1);
    raw.send(packet);
    await raw.gone(1000);
    expect(await people(url)).toBe(0);
  });

  test('a connection stays as long as it is in one namespace, and counts once for each', async () => {
    const { url } = await startServer({ env: { MAX_CONNECTIONS_PER_USER: '2' } });
    const raw = await RawSocket.open(url, { userId: 'u' });
    for (let round = 0; round < 20; round++) {
      raw.packets.length = 0;
      raw.send(`40/agents,${agent}`);
      await raw.packet((packet) => packet.startsWith('2/agents,["hello"'), 'hello');
      await expect(new Person(url, { userId: 'u' }).open()).rejects.toMatchObject({
        data: { code: 'too_many_connections' },
      });
      raw.send('41/agents,');
      await until(async () => (await agents(url)) === 0, 'the end of one');
    }
    expect(await raw.ask('chat:list', '{}')).toMatchObject({ ok: true });
    expect(await new Person(url, { userId: 'u' }).open()).toMatchObject({ disconnectReason: null });
    raw.send('41');
    await raw.gone(1000);
  });

  test('what makes no sense before anything is said ends its connection and no other', async () => {
    const here = await scene();
    for (const packet of ['41', '41/agents,', '42["chat:list",{}]', '43[1]', '44{}', '40[]', '40null', '49', 'x']) {
      const raw = (await knock(here.url)) as RawSocket;
      raw.send(packet);
      await raw.gone(1000);
    }
    expect(await people(here.url)).toBe(1);
    expect(await here.person.ask('chat:list')).toMatchObject({ ok: true });
  });

  test.each(['/', '/agents'])(
    'CON-5: who leaves %s while a token is renewed leaves no timer behind',
    async (namespace) => {
      const timers = new Set<object>();
      const clock: Clock = {
        ...systemClock,
        after(ms, callback) {
          const timer = systemClock.after(ms, () => void (timers.delete(timer), callback()));
          // Those of the server's own are short.
          if (ms > 60_000) timers.add(timer);
          return { cancel: () => void (timers.delete(timer), timer.cancel()) };
        },
      };
      const { url } = await startServer({ env: JWT_ENV, clock });
      const [token, head] = [await tokenFor({ userId: 'u', roles: ['agent'] }), namespace === '/' ? '' : '/agents,'];
      const witness = await new Person(url).open({ token });
      const before = timers.size;
      for (let round = 0; round < 10; round++) {
        const raw = (await knock(url)) as RawSocket;
        raw.send(`40${head}${JSON.stringify({ token })}`);
        await raw.packet((packet) => packet.includes('["hello"'), 'hello');
        raw.send(`42${head}0["auth:refresh",${JSON.stringify({ token })}]`);
        raw.send(`41${head}`);
        await raw.gone(1000);
      }
      // By then the tokens of those who left before are looked at as well.
      await witness.do('auth:refresh', { token });
      await witness.do('auth:refresh', { token });
      expect(timers.size).toBe(before);
    },
  );

  test('one that was in a namespace, left it and may not into another is closed', () => {
    const connection = Object.assign(new EventEmitter(), { transport: { name: 'polling' }, isClosed: false });
    Object.assign(connection, { close: () => (connection.isClosed = true) });
    const known = connection as unknown as EngineConnection;
    const vestibule = new Vestibule(1, systemClock);
    vestibule.enter(known, 'here');
    vestibule.ask(known, 'people');
    vestibule.join(known);
    vestibule.ask(known, 'agents');
    vestibule.part(known, 'people');
    expect(connection.isClosed).toBe(false);
    vestibule.refuse(known, 'agents');
    expect(connection.isClosed).toBe(true);
  });

  test('joining again and again at once gives no more connections than one user may have, and all of them back', async () => {
    const here = await scene({ env: { MAX_CONNECTIONS_PER_USER: '5' } });
    const raw = (await knock(here.url)) as RawSocket;
    for (let round = 0; round < 1000; round++) raw.send('40{"userId":"u"}');
    await until(async () => {
      expect(await people(here.url)).toBeLessThanOrEqual(6);
      return raw.closed !== null || raw.packets.filter((packet) => /^[04]/.test(packet)).length === 1000;
    }, 'the end of it');
    raw.ws.terminate();
    await until(async () => (await people(here.url)) === 1, 'the person alone');
    for (let round = 0; round < 5; round++) await RawSocket.open(here.url, { userId: 'u' });
    expect(await here.person.ask('chat:list')).toMatchObject({ ok: true });
  });
});

test('MAX_CONNECTIONS: what comes beyond them is closed before a word is said; those that are there stay', async () => {
  const { url, port } = await startServer({ env: { MAX_CONNECTIONS: '3' } });
  const inside = await Promise.all([RawSocket.open(url), RawSocket.open(url), RawSocket.open(url)]);
  const beyond = Array.from({ length: 50 }, () => tcp(port, 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'));
  await until(() => beyond.every(({ closed }) => closed), 'the end of all others', 2000);
  expect(beyond.every(({ text }) => text === '')).toBe(true);
  for (const raw of inside) expect(await raw.ask('chat:list', '{}')).toMatchObject({ ok: true });
  inside[0]?.ws.close();
  await until(() => knock(url), 'a free place');
});

describe('slow readers and writers of HTTP', () => {
  /** A server with times that a test can wait for. */
  async function shortLived(times: Partial<Server>, handle: RequestListener) {
    const server = createHttpServer(handle, { maxConnections: 100, slowestMs: 0 });
    const { headersTimeout, requestTimeout, timeout } = server;
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      timeout: 30_000,
    });
    Object.assign(server, times);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, sockets };
  }
  const HEAD = 'POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n';
  const writers: [string, string, string][] = [
    ['says nothing', '', ''],
    ['begins a head', `${HEAD}x-slow: `, ''],
    ['writes a head letter by letter', `${HEAD}x-slow: `, 'x'],
    ['writes header after header', HEAD, 'x: y\r\n'],
    ['begins a body', `${HEAD}\r\n{"`, ''],
    ['writes a body letter by letter', `${HEAD}\r\n{"`, 'x'],
  ];
  const short = { headersTimeout: 300, requestTimeout: 300 };
  const reads: RequestListener = (request, response) => request.resume().on('end', () => response.end('ok'));

  test.each(writers)('one who %s is told so and closed', async (_what, first, drip) => {
    const { port, sockets } = await shortLived(short, reads);
    const peer = tcp(port, first, { drip });
    await until(() => peer.closed && sockets.size === 0, 'the end', 5000);
    expect(peer.text).toMatch(/^HTTP\/1\.1 4\d\d [^]*\r\nconnection: close\r\n[^]*\{"error":\{"code":"bad_request"/);
  });

  test.each(writers.filter(([, , drip]) => drip === 'x'))(
    'one who %s and does not close its own side is closed all the same',
    async (_, first, drip) => {
      const { port, sockets } = await shortLived(short, reads);
      const peer = tcp(port, first, { drip, allowHalfOpen: true });
      await until(() => peer.text !== '' && sockets.size === 0, 'the end', 4000);
    },
  );

  test('SUB-7: a reader that does not read its answer is cut, one that reads slowly is not', async () => {
    const size = 32 * 1024 * 1024;
    const { port, sockets } = await shortLived({ timeout: 500 }, (_, response) => response.end(Buffer.alloc(size)));
    const request = 'GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const stuck = tcp(port, '');
    stuck.socket.pause();
    stuck.socket.write(request);
    let bytes = 0;
    const slow = connect(port, '127.0.0.1', () => slow.write(request));
    slow.on('error', () => undefined);
    slow.on('data', (chunk) => {
      bytes += chunk.length;
      slow.pause();
      setTimeout(() => slow.resume(), 1);
    });
    await until(() => bytes > size, 'the whole answer', 20_000);
    slow.destroy();
    await until(() => sockets.size === 0, 'the end of the other', 5000);
    expect(stuck.text.length).toBeLessThan(size);
  });

  test('C56: a stream that gives signs of life is not cut, however long its reader says nothing', async () => {
    const { port } = await shortLived({ timeout: 400, ...short }, (_, response) => {
      const beat = setInterval(() => response.write(': beat\n\n'), 100);
      response.on('close', () => clearInterval(beat));
    });
    const peer = tcp(port, 'GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => peer.text.split(': beat').length > 20, 'twenty beats', 5000);
    expect(peer.closed).toBe(false);
  });

  test('an upgrade that nobody serves is closed, whatever the other side does', async () => {
    const { port } = await startServer();
    const upgrade = 'GET /elsewhere HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    // It writes on, so that it hears when the other end is gone.
    const peer = tcp(port, upgrade, { allowHalfOpen: true, drip: 'x' });
    await until(() => peer.closed, 'the end', 4000);
  });
});
