import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands, ERRORS, type CommandSpec, type ErrorCode } from '../../protocol/index.js';
import { startHttp, type Answer, type RequestOptions, type TestHttpServer } from './http-server.js';

const MAX_FRAME_BYTES = 64 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

/** The routes of the table, with ids in the places of their parameters. */
const routes = Object.values(commands as Record<string, CommandSpec>).flatMap(({ http }) =>
  http ? [{ method: http.method.toUpperCase(), path: http.path.replace(/:\w+/g, 'some-id') }] : [],
);
routes.push({ method: 'GET', path: '/v1/chats/some-id/events' }, { method: 'POST', path: '/v1/nothing' });

function expectRefusal(answer: Answer, code?: ErrorCode): void {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  const { error } = answer.json as { error: { code: ErrorCode; message: string; retryable: boolean } };
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.status).toBe(ERRORS[error.code].status);
  expect(error.retryable).toBe(ERRORS[error.code].retryable);
  if (code) expect(error.code).toBe(code);
  expect(answer.text).not.toMatch(/node_modules|\.ts\b|\.js\b|\bat \w|SyntaxError|<html|s3cret/i);
  expect(answer.headers['x-powered-by']).toBeUndefined();
}

let server: TestHttpServer;
beforeAll(async () => {
  server = await startHttp({ maxFrameBytes: MAX_FRAME_BYTES });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Malformed {
  readonly title: string;
  readonly code: ErrorCode;
  readonly options?: RequestOptions;
  readonly path?: (path: string) => string;
}

const json = (raw: string | Buffer, headers = {}): RequestOptions => ({ raw, headers: { ...JSON_TYPE, ...headers } });
const chunked = { 'transfer-encoding': 'chunked' };

const malformed: Malformed[] = [
  { title: 'broken JSON', code: 'bad_request', options: json('{"title": s3cret') },
  { title: 'JSON cut off', code: 'bad_request', options: json('{"title": "s3cret') },
  { title: 'a trailing comma', code: 'bad_request', options: json('{"title": "s3cret",}') },
  { title: 'two documents', code: 'bad_request', options: json('{}{}') },
  { title: 'a text instead of an object', code: 'bad_request', options: json('"s3cret"') },
  { title: 'null instead of an object', code: 'bad_request', options: json('null') },
  { title: 'a number instead of an object', code: 'bad_request', options: json('17') },
  { title: 'spaces alone', code: 'bad_request', options: json('   ') },
  {
    title: 'a form',
    code: 'unsupported',
    options: { raw: 'title=s3cret', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  },
  {
    title: 'plain text, as a simple cross-site request has it',
    code: 'unsupported',
    options: { raw: '{}', headers: { 'content-type': 'text/plain' } },
  },
  {
    title: 'multipart',
    code: 'unsupported',
    options: { raw: '--x', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
  },
  { title: 'XML', code: 'unsupported', options: { raw: '<a/>', headers: { 'content-type': 'application/xml' } } },
  { title: 'no content type', code: 'unsupported', options: { raw: '{}' } },
  {
    title: 'a content type that is none',
    code: 'unsupported',
    options: { raw: '{}', headers: { 'content-type': ';;;=' } },
  },
  {
    title: 'an unknown charset',
    code: 'unsupported',
    options: { raw: '{}', headers: { 'content-type': 'application/json; charset=klingon' } },
  },
  { title: 'an unknown encoding', code: 'unsupported', options: json('{}', { 'content-encoding': 'zip' }) },
  { title: 'gzip that is none', code: 'bad_request', options: json('{"a":1}', { 'content-encoding': 'gzip' }) },
  {
    title: 'gzip cut off',
    code: 'bad_request',
    options: json(gzipSync(JSON.stringify({ a: 'b'.repeat(99) })).subarray(0, 20), { 'content-encoding': 'gzip' }),
  },
  {
    title: 'a gzip bomb',
    code: 'payload_too_large',
    options: json(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' }),
  },
  {
    title: 'a body above the bound',
    code: 'payload_too_large',
    options: json(`{"a":"${'b'.repeat(MAX_FRAME_BYTES)}"}`),
  },
  {
    title: 'a chunked body above the bound',
    code: 'payload_too_large',
    options: json(`{"a":"${'b'.repeat(MAX_FRAME_BYTES)}"}`, chunked),
  },
  { title: 'half an escape in the query', code: 'bad_request', path: (path) => `${path}?q=%` },
  { title: 'no UTF-8 in the query', code: 'bad_request', path: (path) => `${path}?q=%ff%fe` },
  {
    title: 'half an escape in the path',
    code: 'bad_request',
    path: (path) => path.replace('some-id', '%E0%A4').replace(/chats$|nothing$/, '%E0%A4'),
  },
  {
    title: 'C26 half a surrogate pair in the path',
    code: 'bad_request',
    path: (path) => path.replace('some-id', '%ED%A0%BC').replace(/chats$|nothing$/, '%ED%A0%BC'),
  },
];

describe('C53 a malformed request gets its 4xx as JSON, without a stack, a path or its own text', () => {
  describe.each(routes)('$method $path', ({ method, path }) => {
    test.each(malformed)('$title', async ({ code, options = {}, path: change = (same) => same }) => {
      expectRefusal(await server.request(method, change(path), options), code);
    });
  });

  test('and none of it came as far as the desk', () => {
    expect(server.calls).toEqual([]);
    expect(server.lines.join('')).not.toContain('s3cret');
    expect(server.lines.join('')).not.toContain('"level":50');
  });

  test('a body too large names the limit (DAT-3)', async () => {
    const answer = await server.request('POST', '/v1/chats', json('x'.repeat(MAX_FRAME_BYTES + 1)));
    expect(answer.json).toMatchObject({
      error: { code: 'payload_too_large', details: { limit: 'maxFrameBytes', max: MAX_FRAME_BYTES } },
    });
  });

  test('100 MB are read off, answered and not kept', async () => {
    expectRefusal(
      await server.request('POST', '/v1/chats', json(Buffer.alloc(100 * 1024 * 1024, 'a'))),
      'payload_too_large',
    );
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a version that there is not', 'GET / HTTP/9.9\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: empty\r\n\r\n'],
    ['a length that is none', 'POST /v1/chats HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -5\r\n\r\n'],
    [
      'two meanings of one length',
      'POST /v1/chats HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
    ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(70_000)}\r\n\r\n`],
  ])('%s', async (_title, bytes) => {
    const answer = await server.bytes(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toMatch(/\r\ncontent-type: application\/json; charset=utf-8\r\n/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code: expect.any(String) as string },
    });
  });

  test('a request without Host or with an unknown expectation is answered like any other', async () => {
    for (const header of ['', 'host: 127.0.0.1\r\nexpect: a miracle\r\n']) {
      const answer = await server.bytes(`GET /v1/nothing HTTP/1.1\r\nconnection: close\r\n${header}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('{"error":{"code":"not_found"');
    }
  });

  test('bytes after a request that are no HTTP get no second answer', async () => {
    const answer = await server.bytes('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nhello\r\n\r\n');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('the server answers as before', async () => {
    expect((await server.request('GET', '/v1/chats')).status).toBe(200);
  });
});

describe('C26 text that is not well-formed', () => {
  test.each([
    ['a title', '{"assistantId":"echo","title":"\\ud83c"}', { title: '\ufffd' }],
    [
      'a value in metadata',
      '{"assistantId":"echo","metadata":{"a":["\\udf0d\\u0000"]}}',
      { metadata: { a: ['\ufffd\ufffd'] } },
    ],
    ['a key in metadata', '{"assistantId":"echo","metadata":{"\\ud83c":1}}', { metadata: { '\ufffd': 1 } }],
  ])('DAT-1 in %s becomes U+FFFD', async (_title, raw, args) => {
    server.calls.length = 0;
    expect((await server.request('POST', '/v1/chats', json(raw))).status).toBe(200);
    expect(server.calls[0]?.args).toMatchObject(args);
  });

  test.each([
    ['an id', '{"assistantId":"echo","chatId":"\\ud83c"}'],
    ['an assistant id', '{"assistantId":"\\ud83c"}'],
  ])('in %s is refused', async (_title, raw) => {
    expectRefusal(await server.request('POST', '/v1/chats', json(raw)), 'bad_request');
  });

  test('bytes that are no UTF-8 are read as U+FFFD', async () => {
    server.calls.length = 0;
    await server.request(
      'POST',
      '/v1/chats',
      json(Buffer.from([...Buffer.from('{"assistantId":"echo","title":"'), 0xff, ...Buffer.from('"}')])),
    );
    expect(server.calls[0]?.args).toMatchObject({ title: '\ufffd' });
  });
});

describe('C27 nesting', () => {
  const nested = (depth: number, open: string, close: string) =>
    `{"assistantId":"echo","metadata":{"a":${open.repeat(depth)}1${close.repeat(depth)}}}`;

  test.each([65, 1_000, 10_000, 30_000])('DAT-2 arrays %i deep are refused', async (depth) => {
    expectRefusal(await server.request('POST', '/v1/chats', json(nested(depth, '[', ']'))), 'bad_request');
  });

  test.each([65, 1_000, 10_000])('DAT-2 objects %i deep are refused', async (depth) => {
    expectRefusal(await server.request('POST', '/v1/chats', json(nested(depth, '{"a":', '}'))), 'bad_request');
  });

  test('200,000 levels within a larger bound are refused all the same', async () => {
    await using roomy = await startHttp({ maxFrameBytes: 4 * 1024 * 1024 });
    for (const path of ['/v1/chats', '/v1/chats/some-id/turns']) {
      expectRefusal(
        await roomy.request(
          'POST',
          path,
          json(
            `{"assistantId":"echo","input":${'['.repeat(200_000)}${']'.repeat(200_000)},"metadata":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
          ),
        ),
        'bad_request',
      );
    }
    expectRefusal(await roomy.request('POST', '/v1/chats', json('['.repeat(200_000))), 'bad_request');
  });

  test('what is within the bound comes through', async () => {
    server.calls.length = 0;
    const raw = nested(60, '[', ']');
    expect((await server.request('POST', '/v1/chats', json(raw))).status).toBe(200);
    expect(server.calls[0]?.args).toEqual(JSON.parse(raw));
  });

  test('a key that reaches the prototype is refused', async () => {
    expectRefusal(
      await server.request('POST', '/v1/chats', json('{"assistantId":"echo","metadata":{"__proto__":{"admin":true}}}')),
      'bad_request',
    );
    await server.request('POST', '/v1/chats', json('{"assistantId":"echo","__proto__":{"title":"x"}}'));
    expect(server.calls.at(-1)?.args).toEqual({ assistantId: 'echo' });
  });
});
