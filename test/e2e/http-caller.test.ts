import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatError } from '../../protocol/index.js';
import { refusalOf, startHttp, type TestHttpServer } from './http-server.js';

let server: TestHttpServer;
let answer: (name: string, args: unknown) => unknown;
beforeAll(async () => {
  server = await startHttp({ answer: (name, args) => answer(name, args) });
});
beforeEach(() => {
  server.calls.length = 0;
  answer = () => ({});
});
afterAll(() => server[Symbol.asyncDispose]());

describe('CON-1 over HTTP', () => {
  test('headers name the caller', async () => {
    await server.request('GET', '/v1/chats');
    await server.request('GET', '/v1/chats', {
      headers: {
        'x-user-id': 'ann',
        'x-team-id': 'blue',
        'x-tenant-id': 'acme',
        'x-roles': 'user, admin',
        authorization: 'Bearer x',
      },
    });
    await server.request('GET', '/v1/chats', { headers: { 'x-user-id': Buffer.from('Zoë').toString('latin1') } });
    await server.request('GET', '/v1/chats', { headers: { 'x-user-id': 'Zo\u00eb' } });
    expect(server.calls.map((call) => call.identity)).toMatchObject([
      { userId: 'local', teamId: null, tenantId: null, roles: ['user', 'agent'] },
      { userId: 'ann', teamId: 'blue', tenantId: 'acme', roles: ['user', 'admin'] },
      { userId: 'Zoë' },
      { userId: 'Zoë' },
    ]);
  });

  test.each([
    { 'x-roles': 'root' },
    { 'x-roles': '' },
    { 'x-user-id': '' },
    { 'x-user-id': 'x'.repeat(201) },
    { 'x-tenant-id': '' },
  ])('%j is refused', async (headers) => {
    const refused = await server.request('GET', '/v1/chats', { headers });
    expect([refused.status, refusalOf(refused).code]).toEqual([400, 'bad_request']);
    expect(server.calls).toEqual([]);
  });

  test('a bearer token reaches the authenticator; who has none is told how to show one', async () => {
    const tokens: unknown[] = [];
    await using closed = await startHttp({
      authenticator: {
        async authenticate({ token }) {
          tokens.push(token);
          throw new ChatError('unauthenticated');
        },
      },
    });
    const refused = await closed.request('POST', '/v1/chats', {
      headers: { authorization: 'bearer abc.def' },
      raw: '{broken',
    });
    expect([refused.status, refused.headers['www-authenticate'], refusalOf(refused).code]).toEqual([
      401,
      'Bearer',
      'unauthenticated',
    ]);
    await closed.request('GET', '/v1/nothing', { headers: { authorization: 'Basic abc' } });
    expect(tokens).toEqual(['abc.def', undefined]);
  });

  test('who gives too many commands is told when to come back', async () => {
    await using busy = await startHttp({
      rateLimit: {
        async command() {
          throw new ChatError('rate_limited', undefined, { retryAfterMs: 300 });
        },
        async bytes() {},
      },
    });
    const refused = await busy.request('GET', '/v1/chats');
    expect([refused.status, refused.headers['retry-after'], refused.json]).toMatchObject([
      429,
      '1',
      { error: { code: 'rate_limited', retryAfterMs: 300 } },
    ]);
    expect((await busy.request('GET', '/healthz')).status).toBe(200);
  });
});
