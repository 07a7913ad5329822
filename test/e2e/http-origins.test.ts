import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startHttp, type TestHttpServer } from './http-server.js';

const APP = 'https://app.example';
const EVIL = 'https://evil.example';

let server: TestHttpServer;
beforeAll(async () => {
  server = await startHttp({ corsOrigins: [APP] });
});
beforeEach(() => {
  server.calls.length = 0;
});
afterAll(() => server[Symbol.asyncDispose]());

const create = (headers: Record<string, string>, to = server) =>
  to.request('POST', '/v1/chats', { headers, body: { assistantId: 'echo' } });
const preflight = (origin: string, path = '/v1/chats') =>
  server.request('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,authorization,x-user-id,idempotency-key',
    },
  });

describe('C51 pages of other origins', () => {
  test('an allowed origin may write and read, and its preflight says so', async () => {
    const asked = await preflight(APP);
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '600',
    });
    expect(asked.headers.vary).toMatch(/origin/i);
    expect(asked.headers['access-control-allow-methods']?.split(',')).toEqual(['GET', 'POST', 'PATCH', 'DELETE']);
    const headers = asked.headers['access-control-allow-headers']?.split(',');
    for (const header of ['content-type', 'authorization', 'x-user-id', 'idempotency-key', 'last-event-id'])
      expect(headers).toContain(header);

    const written = await create({ origin: APP });
    expect([written.status, written.headers['access-control-allow-origin']]).toEqual([200, APP]);
    const refused = await server.request('GET', '/v1/chats?limit=1&page=x', { headers: { origin: APP } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([400, APP]);
  });

  test.each([
    EVIL,
    'null',
    'https://app.example.evil.example',
    'https://app.example:444',
    'http://app.example',
    'HTTPS://APP.EXAMPLE',
    '*',
    'not an origin',
    'http://127.0.0.1:1',
  ])('Origin: %s may neither write nor read', async (origin) => {
    const written = await create({ origin });
    expect([written.status, written.json]).toMatchObject([403, { error: { code: 'forbidden' } }]);
    for (const method of ['PATCH', 'DELETE'])
      expect((await server.request(method, '/v1/chats/c1', { headers: { origin } })).status).toBe(403);
    const asked = await preflight(origin);
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect(server.calls).toEqual([]);
    const read = await server.request('GET', '/v1/chats', { headers: { origin, cookie: 'session=1' } });
    expect(read.headers['access-control-allow-origin']).toBeUndefined();
    expect(read.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('a page of this server and a program without an origin may write', async () => {
    expect((await create({ origin: server.url })).status).toBe(200);
    expect((await create({ origin: `http://localhost:${server.port}`, host: `localhost:${server.port}` })).status).toBe(
      200,
    );
    expect((await create({})).status).toBe(200);
  });

  test('without an allow-list nobody is allowed', async () => {
    await using strict = await startHttp();
    expect((await create({ origin: APP }, strict)).status).toBe(403);
    expect((await create({ origin: strict.url }, strict)).status).toBe(200);
  });

  test('a server that believes everybody is not for those who come through a proxy from elsewhere', async () => {
    const through = async (forwardedFor: string, to = server) =>
      (await to.request('GET', '/v1/chats', { headers: { 'x-forwarded-for': forwardedFor } })).status;
    for (const address of ['203.0.113.7', '127.0.0.1, 203.0.113.7', '2001:db8::1', '', 'unknown', '127.0.0.1.evil'])
      expect([address, await through(address)]).toEqual([address, 403]);
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.0.0.1, ::1'])
      expect([address, await through(address)]).toEqual([address, 200]);
    await using open = await startHttp({ loopbackOnly: false });
    expect(await through('203.0.113.7', open)).toBe(200);
  });

  test('a name that was turned to loopback is not answered to (DNS rebinding), not even to read', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${server.port}`,
      '127.0.0.1.evil.example',
      'localhost.evil.example',
    ]) {
      const read = await server.request('GET', '/v1/chats', { headers: { host, origin: `http://${host}` } });
      expect([host, read.status]).toEqual([host, 403]);
    }
    for (const host of ['localhost', '127.0.0.1:9', '[::1]:3000', 'app.example'])
      expect((await server.request('GET', '/v1/chats', { headers: { host } })).status, host).toBe(200);
    await using open = await startHttp({ loopbackOnly: false });
    expect((await open.request('GET', '/v1/chats', { headers: { host: 'chat.example' } })).status).toBe(200);
    expect((await create({ host: 'chat.example', origin: 'https://chat.example' }, open)).status).toBe(200);
  });
});
