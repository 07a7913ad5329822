import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatError } from '../../protocol/index.js';
import { startHttp, type Answer, type RequestOptions, type TestHttpServer } from './http-server.js';

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

/** The one command that the request became. */
async function commandOf(method: string, path: string, options?: RequestOptions) {
  const { status, text } = await server.request(method, path, options);
  expect(status, text).toBeLessThan(300);
  expect(server.calls).toHaveLength(1);
  return { name: server.calls[0]!.name, args: server.calls[0]!.args, status };
}

const refusalOf = ({ json }: Answer) => (json as { error: { code: string; details?: { path?: string } } }).error;

describe('section 8: each route is its command', () => {
  test.each([
    ['GET', '/v1/chats', undefined, 'chat:list', {}, 200],
    ['POST', '/v1/chats', { assistantId: 'echo' }, 'chat:create', { assistantId: 'echo' }, 200],
    ['GET', '/v1/chats/c1', undefined, 'chat:get', { chatId: 'c1' }, 200],
    ['PATCH', '/v1/chats/c1', { title: null }, 'chat:update', { chatId: 'c1', title: null }, 200],
    ['DELETE', '/v1/chats/c1', undefined, 'chat:delete', { chatId: 'c1' }, 200],
    ['GET', '/v1/chats/c1/messages', undefined, 'message:list', { chatId: 'c1', limit: 50 }, 200],
    ['PATCH', '/v1/messages/m1', { type: 'text' }, 'message:update', { messageId: 'm1', type: 'text' }, 200],
    [
      'DELETE',
      '/v1/chats/c1/messages?ids=a,b',
      undefined,
      'message:delete',
      { chatId: 'c1', messageIds: ['a', 'b'] },
      200,
    ],
    [
      'DELETE',
      '/v1/chats/c1/messages',
      { messageIds: ['a'] },
      'message:delete',
      { chatId: 'c1', messageIds: ['a'] },
      200,
    ],
    [
      'POST',
      '/v1/chats/c1/turns',
      { input: 'hi', onBusy: 'reject' },
      'turn:start',
      { chatId: 'c1', onBusy: 'reject' },
      202,
    ],
    ['GET', '/v1/chats/c1/turns?before=r1', undefined, 'turn:list', { chatId: 'c1', before: 'r1', limit: 50 }, 200],
    ['GET', '/v1/turns/r1', undefined, 'turn:get', { requestId: 'r1' }, 200],
    ['POST', '/v1/turns/r1/stop', undefined, 'turn:stop', { requestId: 'r1' }, 200],
    ['POST', '/v1/turns/r1/resume', { attempt: 2 }, 'turn:resume', { requestId: 'r1', attempt: 2 }, 202],
    ['GET', '/v1/turns/r1/steps', undefined, 'step:list', { requestId: 'r1' }, 200],
    ['GET', '/v1/stacks/s1/steps', undefined, 'step:stack', { stackId: 's1' }, 200],
    ['GET', '/v1/stacks/s1/path', undefined, 'step:path', { stackId: 's1' }, 200],
    ['GET', '/v1/chats/c1/incomplete-step', undefined, 'step:incomplete', { chatId: 'c1' }, 200],
  ])('%s %s', async (method, path, body, name, args, status) => {
    const command = await commandOf(method, path, body === undefined ? {} : { body });
    expect(command).toMatchObject({ name, args, status });
  });

  test('a success answers with the data of the ack; a chat that was created with 201', async () => {
    answer = () => ({ chat: { chatId: 'c1' }, created: true });
    const created = await server.request('POST', '/v1/chats', { body: { assistantId: 'echo' } });
    expect([created.status, created.json]).toEqual([201, { chat: { chatId: 'c1' }, created: true }]);
    expect(created.headers['cache-control']).toBe('no-store');
    expect(created.headers.etag).toBeUndefined();
  });

  test('a HEAD is a GET without its body', async () => {
    const head = await server.request('HEAD', '/v1/chats/c1');
    expect([head.status, head.text, server.calls[0]?.name]).toEqual([200, '', 'chat:get']);
  });

  test('the path wins over body and query', async () => {
    expect((await commandOf('PATCH', '/v1/chats/c1?chatId=c2', { body: { chatId: 'c3', title: 'x' } })).args).toEqual({
      chatId: 'c1',
      title: 'x',
    });
    server.calls.length = 0;
    expect((await commandOf('GET', '/v1/chats/c1?chatId=c2')).args).toEqual({ chatId: 'c1' });
  });

  test('POST and PATCH look at no query, GET at no body', async () => {
    expect((await commandOf('POST', '/v1/chats?title=x', { body: { assistantId: 'echo' } })).args).toEqual({
      assistantId: 'echo',
    });
    server.calls.length = 0;
    expect((await commandOf('GET', '/v1/chats', { body: { page: 7 } })).args).toMatchObject({ page: 1 });
  });

  test('a query is read in full: escapes, plus signs, text that looks like a number', async () => {
    expect((await commandOf('GET', '/v1/chats?keywords=100%25+%C3%A9%26&page=2&scope=all')).args).toMatchObject({
      keywords: '100% é&',
      page: 2,
      scope: 'all',
    });
    server.calls.length = 0;
    expect((await commandOf('GET', '/v1/chats?keywords=17')).args).toMatchObject({ keywords: '17' });
  });

  test('an error of the desk is answered by the one table', async () => {
    answer = () => {
      throw new ChatError('turn_busy', undefined, { details: { activeRequestId: 'r0' } });
    };
    const busy = await server.request('POST', '/v1/chats/c1/turns', { body: { input: 'x' } });
    expect([busy.status, busy.json]).toEqual([
      409,
      {
        error: {
          code: 'turn_busy',
          message: expect.any(String) as string,
          retryable: true,
          details: { activeRequestId: 'r0' },
        },
      },
    ]);

    answer = () => {
      throw new ChatError('storage_unavailable', undefined, { retryAfterMs: 1_500 });
    };
    const away = await server.request('GET', '/v1/chats');
    expect([away.status, away.headers['retry-after']]).toEqual([503, '2']);
  });

  test('what nobody foresaw is internal, and says nothing of itself', async () => {
    answer = () => {
      throw new Error('no such column: s3cret');
    };
    const failed = await server.request('GET', '/v1/chats');
    expect([failed.status, refusalOf(failed).code]).toEqual([500, 'internal']);
    expect(failed.text).not.toContain('s3cret');
  });
});

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
    expect((await commandOf('GET', '/v1/chats?pageSize=100&page=3')).args).toMatchObject({ page: 3, pageSize: 100 });
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
    expect((await commandOf('GET', '/v1/chats/c1/messages?after=0&limit=200')).args).toMatchObject({
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
      (await commandOf('GET', '/v1/chats/c1/messages?limit[]=1&limit[gt]=2&__proto__[x]=1&__proto__=1')).args,
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

describe('Idempotency-Key', () => {
  const start = (headers: Record<string, string>, body: object) =>
    server.request('POST', '/v1/chats/c1/turns', { headers, body: { input: 'x', ...body } });

  test('is the requestId of a turn', async () => {
    await start({ 'idempotency-key': 'key-1' }, {});
    await start({ 'idempotency-key': 'key-1' }, { requestId: 'key-1' });
    await start({}, { requestId: 'key-2' });
    expect(server.calls.map((call) => (call.args as { requestId: string }).requestId)).toEqual([
      'key-1',
      'key-1',
      'key-2',
    ]);
  });

  test('another one in the body is refused, as is a key that is no id', async () => {
    for (const refused of [
      await start({ 'idempotency-key': 'key-1' }, { requestId: 'key-2' }),
      await start({ 'idempotency-key': 'not an id' }, {}),
      await start({ 'idempotency-key': '' }, {}),
    ]) {
      expect([refused.status, refusalOf(refused)]).toMatchObject([
        400,
        { code: 'bad_request', details: { path: 'requestId' } },
      ]);
    }
    expect(server.calls).toEqual([]);
  });

  test('means nothing elsewhere', async () => {
    expect((await commandOf('POST', '/v1/turns/r1/resume', { headers: { 'idempotency-key': 'key-1' } })).args).toEqual({
      requestId: 'r1',
    });
  });
});

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
        async consume() {
          throw new ChatError('rate_limited', undefined, { retryAfterMs: 300 });
        },
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
