import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatError } from '../../protocol/index.js';
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
    const command = await commandOf(server, method, path, body === undefined ? {} : { body });
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
    expect(
      (await commandOf(server, 'PATCH', '/v1/chats/c1?chatId=c2', { body: { chatId: 'c3', title: 'x' } })).args,
    ).toEqual({
      chatId: 'c1',
      title: 'x',
    });
    server.calls.length = 0;
    expect((await commandOf(server, 'GET', '/v1/chats/c1?chatId=c2')).args).toEqual({ chatId: 'c1' });
  });

  test('POST and PATCH look at no query, GET at no body', async () => {
    expect((await commandOf(server, 'POST', '/v1/chats?title=x', { body: { assistantId: 'echo' } })).args).toEqual({
      assistantId: 'echo',
    });
    server.calls.length = 0;
    expect((await commandOf(server, 'GET', '/v1/chats', { body: { page: 7 } })).args).toMatchObject({ page: 1 });
  });

  test('a query is read in full: escapes, plus signs, text that looks like a number', async () => {
    expect((await commandOf(server, 'GET', '/v1/chats?keywords=100%25+%C3%A9%26&page=2&scope=all')).args).toMatchObject(
      {
        keywords: '100% é&',
        page: 2,
        scope: 'all',
      },
    );
    server.calls.length = 0;
    expect((await commandOf(server, 'GET', '/v1/chats?keywords=17')).args).toMatchObject({ keywords: '17' });
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
    expect(
      (await commandOf(server, 'POST', '/v1/turns/r1/resume', { headers: { 'idempotency-key': 'key-1' } })).args,
    ).toEqual({
      requestId: 'r1',
    });
  });
});
