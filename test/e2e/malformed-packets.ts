import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { agentCommands, commands } from '../../protocol/index.js';

/** A document cut off anywhere. */
const cutJson = fc
  .tuple(fc.json(), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([json, part]) => json.slice(0, Math.floor(json.length * part)));

const bytes = (maxLength = 200): fc.Arbitrary<Buffer> => fc.uint8Array({ maxLength }).map((list) => Buffer.from(list));

/** A body that is none, with what its headers say of it. */
export const malformedBody = fc
  .record({
    body: fc.oneof(
      bytes(),
      cutJson.map((text) => Buffer.from(text)),
      cutJson.map((text) => gzipSync(text)),
      fc.tuple(fc.json(), fc.nat(40)).map(([text, cut]) => gzipSync(text).subarray(0, cut)),
      fc.constantFrom(1_000, 100_000, 1_200_000).map((levels) => Buffer.from('['.repeat(levels))),
      fc.constantFrom(1_000, 1_200_000, 8_000_000).map((size) => gzipSync(Buffer.alloc(size, ' '))),
      fc.constantFrom(1_048_576, 1_048_577, 5_000_000).map((size) => Buffer.alloc(size, '1')),
    ),
    type: fc.constantFrom(
      ...[
        'application/json',
        'application/json',
        'application/json; charset=utf-16',
        'application/json;;',
        'text/plain',
      ],
      ...['multipart/form-data', 'application/json, application/json', '', '*/*', 'application/vnd.api+json'],
    ),
    encoding: fc.constantFrom('identity', 'gzip', 'deflate', 'br', 'zip', 'gzip, gzip', ''),
    more: fc.record(
      {
        'idempotency-key': fc.constantFrom('', ' ', 'a b', '__proto__', 'i'.repeat(65), '\u00ff'),
        'x-user-id': fc.constantFrom('', '\u00ff', 'u'.repeat(201), '__proto__', 'a,b'),
        'x-roles': fc.constantFrom('', ',', 'root', 'user,'.repeat(100), '__proto__'),
        authorization: fc.constantFrom('', 'Bearer', 'Bearer a.b.c', 'Basic eDp5', 'Bearer '.repeat(500)),
        'last-event-id': fc.constantFrom('', ':', 'x:1e9', 'x:-1', ':'.repeat(5000)),
        range: fc.constantFrom('bytes=0-', 'bytes=-1', 'x'),
        'x-http-method-override': fc.constantFrom('DELETE', 'CONNECT'),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ body, type, encoding, more }) => ({
    body,
    headers: { 'content-type': type, 'content-encoding': encoding, ...more },
  }));

/** What a WebSocket carries, frame by frame; a list of `[frame, times]`, so that a flood is one line of a counterexample. */
export type Frames = readonly (readonly [frame: string | Buffer, times: number])[];

const NAMESPACES = [
  '',
  '/,',
  '/agents,',
  '/agents',
  '/nowhere,',
  '/__proto__,',
  '/../,',
  '/agents?x=1,',
  '/,/,',
  '/ ,',
  '/%00,',
];
const ACK_IDS = ['', '0', '1', '-1', ' ', '00', '1.5', '1e400', '9'.repeat(400), '٣', '+1'];
const COUNTS = [
  '',
  '0-',
  '1-',
  '2-',
  '10-',
  '11-',
  '-',
  '-1-',
  '1.5-',
  '1e1-',
  '0x1-',
  ' 1-',
  '99999999999-',
  'NaN-',
  '1',
];

const NAMES = [...Object.keys(commands), ...Object.keys(agentCommands), 'hello', 'turn:assigned', 'goaway'];
const PAYLOADS = fc.oneof(
  fc.json(),
  cutJson,
  fc.string({ unit: 'binary', maxLength: 40 }),
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', maxLength: 8 })), fc.array(fc.json()))
      .map(([name, jsons]) => `[${[JSON.stringify(name), ...jsons].join(',')}]`),
  },
  fc.constantFrom(
    ...[
      '["disconnect"]',
      '["connect"]',
      '["newListener",1]',
      '["error"]',
      '["disconnecting"]',
      '["removeListener"]',
      '[]',
      '{}',
    ],
    ...['[null]', '[[]]', '[{}]', '[1e999]', '["__proto__",{}]', '["toString"]', '["\\ud83c"]', '["\\u0000"]', '[""]'],
    ...['["chat:list",{"_placeholder":true,"num":0}]', '["chat:list",{"_placeholder":true,"num":-1}]'],
    ...[
      '["chat:list",{"_placeholder":true,"num":"0"}]',
      '["chat:list",{"_placeholder":true,"num":1e9},{"_placeholder":true,"num":0}]',
    ],
    ...[
      '{"token":1}',
      '{"userId":{}}',
      '{"protocol":99}',
      '{"roles":"x"}',
      '{"__proto__":{"userId":"x"}}',
      '{"userId":""}',
    ],
  ),
  fc
    .record({ levels: fc.constantFrom(65, 1_000, 10_000, 200_000), name: fc.constantFrom('chat:create', 'x') })
    .map(({ levels, name }) => `["${name}",${'['.repeat(levels)}${']'.repeat(levels)},{"_placeholder":true,"num":0}]`),
);

/** A text that is right more often than one of those that are not: what is wrong everywhere is refused at its first letter. */
const mostly = (right: readonly string[], wrong: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...right) }, fc.constantFrom(...wrong));

const socketIoPacket = fc
  .tuple(
    mostly(['2', '2', '2', '3'], [...'01345678x']),
    mostly([''], COUNTS),
    mostly(['', '', '', '/agents,'], NAMESPACES),
    mostly(['', '7', '8'], ACK_IDS),
    PAYLOADS,
  )
  .map((parts) => `4${parts.join('')}`);

const small = fc.oneof(
  { weight: 40, arbitrary: socketIoPacket },
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .tuple(fc.constantFrom(...'0123456789b'), fc.string({ unit: 'binary', maxLength: 20 }))
    .map(([type, text]) => type + text),
  bytes(),
  // The beginning of an event with attachments, and attachments: whether they belong together is left to chance.
  fc.constantFrom('451-["chat:list",{"_placeholder":true,"num":0}]', '453-["x"]', '4510-/agents,["x"]', '461-0[]'),
);
const large = fc.oneof(
  fc.constantFrom(100_000, 1_048_577, 2_097_152, 3_000_000).map((size) => Buffer.alloc(size, 0x61)),
  fc
    .constantFrom(100_000, 1_048_577, 2_097_152, 3_000_000)
    .map((size) => `42["chat:list",{"keywords":"${'x'.repeat(size)}"}]`),
  fc.constantFrom(10_000, 1_000_000).map((size) => `42/${'n'.repeat(size)}`),
  fc.constantFrom(10_000, 1_000_000).map((size) => `42${'1'.repeat(size)}["chat:list",{}]`),
);

export const malformedFrames: fc.Arbitrary<Frames> = fc.array(
  fc.oneof(
    { weight: 16, arbitrary: fc.tuple(small, fc.constant(1)) },
    { weight: 1, arbitrary: fc.tuple(large, fc.constant(1)) },
    // Many of one kind: pings, answers to nothing, joins and leaves, events that nobody knows, attachments of nothing.
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom(
          '2',
          '3',
          '6',
          '40',
          '40/agents,{}',
          '41',
          '41/agents,',
          '430[]',
          '42["x"]',
          '42["chat:list",{}]',
          '420["x",1]',
        ),
        fc.constantFrom(50, 1_000),
      ),
    },
  ),
  { minLength: 1, maxLength: 4 },
);

/** What is said before: nothing, to people's namespace, to agents', or to both; and whether its answer is waited for. */
export const greeting = fc.record({
  joins: fc.constantFrom<readonly string[]>(
    [],
    ['40{}'],
    ['40/agents,{}'],
    ['40{}', '40/agents,{}'],
    ['40{}', '40/agents,{}'],
  ),
  isPatient: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
});
export type Greeting = typeof greeting extends fc.Arbitrary<infer T> ? T : never;

/** Bytes on a TCP connection; times as in {@link Frames}. */
const line = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .tuple(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string({ maxLength: 60 }))
    .map(([name, value]) => `${name}: ${value}`),
  fc.constantFrom(
    ...[
      'host: x',
      'host: 127.0.0.1',
      ': empty',
      'no colon',
      ' folded',
      'content-length: -1',
      'content-length: 5',
      'content-length: 1e3',
    ],
    ...[
      'content-length: 99999999999999999999',
      'transfer-encoding: chunked',
      'transfer-encoding: identity, chunked',
      'expect: x',
    ],
    ...[
      'connection: upgrade',
      'upgrade: websocket',
      'upgrade: h2c',
      'sec-websocket-version: 99',
      'sec-websocket-key: x',
    ],
    ...[
      'expect: 100-continue',
      'connection: close',
      'content-type: application/json',
      'x: \u0000',
      'host: x\r\nhost: y',
      'te: trailers',
    ],
    ...[
      'content-encoding: gzip',
      'origin: null',
      'origin: https://elsewhere.example',
      'cookie: ' + 'a=b;'.repeat(5_000),
    ],
  ),
  fc.constantFrom(100, 20_000, 200_000).map((size) => `x-long: ${'a'.repeat(size)}`),
  fc.constantFrom(10, 3_000).map((count) => 'x: y\r\n'.repeat(count) + 'x: y'),
);
const HANDSHAKE = '/socket.io/?EIO=4&transport=websocket';
const target = fc.oneof(
  fc.constantFrom(
    ...[
      '/',
      '*',
      '/healthz',
      '/v1/chats',
      '//',
      '/%',
      '/%ff',
      '/\u0000',
      'http://elsewhere/',
      '/../..',
      '/v1/chats?%',
      HANDSHAKE,
    ],
    ...[
      '/socket.io/',
      '/socket.io/?EIO=3&transport=websocket',
      '/socket.io/?EIO=4&transport=polling',
      '/socket.io/?EIO=4&transport=x',
    ],
    ...[
      '/socket.io/?EIO=4&transport=websocket&sid=x',
      '/socket.io/?EIO=4&transport=__proto__',
      '/socket.io/?EIO=4&EIO=4&transport=constructor',
    ],
    ...[
      '/socket.io/?EIO=4&transport=polling&j=1',
      '/socket.io/?EIO=4&transport=webtransport',
      '/' + 'p'.repeat(20_000),
    ],
  ),
  fc.webPath(),
);
const head = fc
  .record({
    method: mostly(
      ['GET', 'GET', 'POST', 'PATCH'],
      ['GET', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', 'G\u0000T', ''],
    ),
    target,
    version: mostly(
      ['HTTP/1.1'],
      ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', '', 'RTSP/1.0'],
    ),
    lines: fc.array(line, { maxLength: 3 }),
    end: fc.constantFrom('\r\n\r\n', '\r\n\r\n', '\n\n', '\r\n', ''),
    body: fc.oneof(
      fc.constant(''),
      fc.json(),
      fc.constantFrom('5\r\nhello\r\n0\r\n\r\n', 'ffffffffffffffff\r\n', '-1\r\n', 'zz\r\nx'),
    ),
  })
  .map(({ method, target, version, lines, end, body }) =>
    Buffer.from(`${[`${method} ${target} ${version}`, ...lines].join('\r\n')}${end}${body}`, 'latin1'),
  );

const upgrade = (more: readonly string[]): Buffer =>
  Buffer.from(
    [
      `GET ${HANDSHAKE} HTTP/1.1`,
      'host: 127.0.0.1',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...more,
      '\r\n',
    ].join('\r\n'),
    'latin1',
  );

/** A frame of RFC 6455, or nearly: any opcode, reserved bits, lengths that lie, masks or none, texts that are no UTF-8. */
const webSocketFrame = fc
  .record({
    first: fc.oneof(
      fc.constantFrom(0x81, 0x82, 0x01, 0x00, 0x80, 0x88, 0x89, 0x8a, 0x09, 0xc1, 0xf1, 0x83, 0x8f),
      fc.nat(255),
    ),
    length: fc.constantFrom(
      ...[
        [],
        [0xfe, 0xff, 0xff],
        [0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      ],
      ...[[0x80], [0x05], [0xfd], [0xfe, 0, 1], [0xff, 0, 0, 0, 0, 0, 0, 0, 1]],
    ),
    payload: fc.oneof(
      bytes(100),
      small.map((frame) => Buffer.from(frame).subarray(0, 100)),
    ),
  })
  .map(({ first, length, payload }) =>
    // Without a length of its own: the true one. The mask is nought, which changes nothing.
    Buffer.concat([
      Buffer.from([first, ...(length.length > 0 ? length : [0x80 | Math.min(payload.length, 125)])]),
      Buffer.alloc(4),
      payload,
    ]),
  );

const webSocket = fc
  .record({
    more: fc.array(
      fc.constantFrom(
        ...[
          'sec-websocket-extensions: permessage-deflate; server_max_window_bits=99',
          'sec-websocket-extensions: ;;;',
          'sec-websocket-protocol: ,',
        ],
        ...[
          'sec-websocket-extensions: permessage-deflate',
          'origin: https://elsewhere.example',
          'sec-websocket-key: x',
          'content-length: 5',
        ],
      ),
      { maxLength: 2 },
    ),
    frames: fc.array(webSocketFrame, { maxLength: 5 }),
  })
  .map(({ more, frames }) => Buffer.concat([upgrade(more), ...frames]));

export interface Connection {
  readonly bytes: Buffer;
  /** Whether the other side still waits for what is said, or has gone away without a word. */
  readonly isAwaited: boolean;
}

export const malformedConnection: fc.Arbitrary<Connection> = fc.record({
  bytes: fc.oneof(
    { weight: 4, arbitrary: head },
    { weight: 4, arbitrary: webSocket },
    { weight: 1, arbitrary: bytes() },
  ),
  isAwaited: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
});
