import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttp, type TestHttpServer } from './http-server.js';

let server: TestHttpServer;
beforeAll(async () => {
  server = await startHttp();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('section 8: what operators ask for', () => {
  test('liveness does not look at the store, readiness does', async () => {
    const well = { store: true, log: true, journal: true, draining: false };
    let health = well;
    await using asked = await startHttp({ health: () => health });
    expect(await asked.request('GET', '/readyz')).toMatchObject({ status: 200, json: { ready: true, checks: well } });
    for (const ill of [{ store: false }, { log: false }, { journal: false }, { draining: true }]) {
      health = { ...well, ...ill };
      expect(await asked.request('GET', '/readyz')).toMatchObject({
        status: 503,
        json: { ready: false, checks: health },
      });
      expect((await asked.request('GET', '/healthz')).status).toBe(200);
    }
  });

  test('metrics are Prometheus text', async () => {
    const { status, headers, text } = await server.request('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^# HELP turnstream_turns_active /m);
  });

  test('the descriptions are there and name the version', async () => {
    expect((await server.request('GET', '/openapi.json')).json).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.3' },
    });
    expect((await server.request('GET', '/asyncapi.json')).json).toMatchObject({
      asyncapi: '3.0.0',
      info: { version: '1.2.3' },
    });
  });

  test('the docs load everything from here, under a policy that lets nothing else run', async () => {
    const moved = await server.request('GET', '/docs');
    expect([200, 301, 302, 308]).toContain(moved.status);
    const page = await server.request('GET', '/docs/');
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/(src|href)=["']?(https?:)?\/\//);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    for (const [, file] of page.text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) {
      const { status, headers } = await server.request('GET', `/docs/${file}`);
      expect([file, status]).toEqual([file, 200]);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
    }
    const script = await server.request('GET', '/docs/swagger-ui-init.js');
    expect(script.text).toContain('"openapi": "3.1.0"');
    expect((await server.request('GET', '/docs/nothing.js')).headers['content-security-policy']).not.toContain('http');
  });
});

describe('section 8: whatever is asked for, the answer is JSON', () => {
  test.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/chats/c1/nothing',
    '/V1/chats',
    '/favicon.ico',
    '/metrics/x',
    '//',
    '/..',
    '/v1/chats/c1/../../..',
  ])('GET %s is not found', async (path) => {
    const { status, json } = await server.request('GET', path);
    expect([status, json]).toMatchObject([404, { error: { code: 'not_found', retryable: false } }]);
  });

  test.each([
    ['PUT', '/v1/chats/c1', 'GET, PATCH, DELETE'],
    ['DELETE', '/v1/chats', 'POST, GET'],
    ['GET', '/v1/turns/r1/stop', 'POST'],
    ['PURGE', '/v1/messages/m1', 'PATCH'],
  ])('%s %s has no such method, and says which there are', async (method, path, allow) => {
    const { status, json, headers } = await server.request(method, path);
    expect([status, json]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect(headers.allow?.split(', ').sort()).toEqual(allow.split(', ').sort());
  });

  test('OPTIONS without an origin names the methods', async () => {
    const { status, headers } = await server.request('OPTIONS', '/v1/chats/c1');
    expect([status, headers.allow]).toEqual([204, 'GET, PATCH, DELETE']);
  });

  test('security headers are on every answer', async () => {
    for (const path of ['/healthz', '/v1/chats', '/nothing', '/v1/chats?limit=%']) {
      const { headers } = await server.request('GET', path);
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });
});

describe('requests in the log', () => {
  test('each has an id, given or made, that its lines carry', async () => {
    const made = (await server.request('GET', '/v1/chats')).headers['x-request-id'];
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    const given = await server.request('GET', '/v1/chats', { headers: { 'x-request-id': 'edge.7f3a:1' } });
    expect(given.headers['x-request-id']).toBe('edge.7f3a:1');
    const forged = await server.request('GET', '/v1/chats', { headers: { 'x-request-id': 'a "b" {}' } });
    expect(forged.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const line = server.lines
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find((entry) => (entry.http as { id?: string } | undefined)?.id === 'edge.7f3a:1');
    expect(line).toMatchObject({
      level: 30,
      http: { id: 'edge.7f3a:1', method: 'GET', path: '/v1/chats' },
      answer: { status: 200 },
      ms: expect.any(Number) as number,
      msg: 'answered',
    });
  });

  test('holds nothing that people say or show, and no probes', async () => {
    server.lines.length = 0;
    await server.request('POST', '/v1/chats?keywords=s3cret', {
      body: { assistantId: 'echo', title: 's3cret' },
      headers: { authorization: 'Bearer s3cret', cookie: 's3cret', 'x-user-id': 'ann' },
    });
    await server.request('GET', '/healthz');
    await server.request('GET', '/v1/nothing');
    // Two requests, and the audit of what the first one did.
    expect(server.lines).toHaveLength(3);
    expect(server.lines.join('')).not.toContain('s3cret');
  });
});
