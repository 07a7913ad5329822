import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commandOf, refusalOf, startHttp, type TestHttpServer } from './http-server.js';

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

describe('C28 limits', () => {
  const bad = [
    '-1',
    '0',
    '201',
    '1.5',
    '1e1',
    '1e9',
    'abc',
    '',
    'NaN',
    'Infinity',
    '0x10',
    '1;drop',
    '%205',
    '5%20',
    '+5',
    '99999999999999999999',
    '1,2',
    'null',
    'true',
    '[1]',
    '%00',
  ];

  test.each(['/v1/chats/c1/messages', '/v1/chats/c1/turns'])('GET %s?limit=', async (path) => {
    for (const limit of bad) {
      const refused = await server.request('GET', `${path}?limit=${limit}`);
      expect([limit, refused.status, refusalOf(refused)]).toMatchObject([
        limit,
        400,
        { code: 'bad_request', details: { path: 'limit' } },
      ]);
    }
    expect(server.calls).toEqual([]);
    for (const limit of [1, 50, 200]) await server.request('GET', `${path}?limit=${limit}`);
    expect(server.calls.map((call) => (call.args as { limit: number }).limit)).toEqual([1, 50, 200]);
  });

  test('pages: 1…100 of pageSize, a page from 1 on', async () => {
    for (const pageSize of [...bad.filter((text) => text !== '201'), '101']) {
      expect((await server.request('GET', `/v1/chats?pageSize=${pageSize}`)).status, pageSize).toBe(400);
      expect((await server.request('GET', `/v1/chats?page=${pageSize}`)).status === 200, pageSize).toBe(
        pageSize === '101',
      );
    }
    server.calls.length = 0;
    expect((await commandOf(server, 'GET', '/v1/chats?pageSize=100&page=3')).args).toMatchObject({
      page: 3,
      pageSize: 100,
    });
  });

  test('before, after and offset are sequences or refused', async () => {
    for (const name of ['before', 'after', 'offset']) {
      for (const value of ['-1', 'abc', '', 'NaN', '1.5', '1;drop', '%205', '99999999999999999']) {
        expect((await server.request('GET', `/v1/chats/c1/messages?${name}=${value}`)).status, `${name}=${value}`).toBe(
          400,
        );
      }
    }
    expect(server.calls).toEqual([]);
    expect((await commandOf(server, 'GET', '/v1/chats/c1/messages?after=0&limit=200')).args).toMatchObject({
      after: 0,
      limit: 200,
    });
  });

  test.each(['limit=1&limit=2', 'limit=1&limit=1', 'before=5&limit=1&before=6', 'role=user&role=assistant'])(
    '%s: a parameter given twice is refused',
    async (query) => {
      expect((await server.request('GET', `/v1/chats/c1/messages?${query}`)).status).toBe(400);
    },
  );

  test('brackets make no arrays and no objects', async () => {
    expect(
      (await commandOf(server, 'GET', '/v1/chats/c1/messages?limit[]=1&limit[gt]=2&__proto__[x]=1&__proto__=1')).args,
    ).toEqual({ chatId: 'c1', limit: 50 });
  });

  test('ids of messages to delete', async () => {
    for (const query of ['?ids=', '?ids=a,,b', '?ids=a b', '?ids=a&ids=b', '']) {
      expect((await server.request('DELETE', `/v1/chats/c1/messages${query.replace(' ', '%20')}`)).status, query).toBe(
        400,
      );
    }
    expect(server.calls).toEqual([]);
  });
});
