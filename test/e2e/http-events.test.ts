import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ChatError, type ChatEvent, type SubscribeResult } from '../../protocol/index.js';
import type { LoggedEvent } from '../../server/ports/live-log.js';
import { EventBatch } from '../../server/session/subscriber.js';
import { startHttp, type TestHttpOptions, type TestHttpServer } from './http-server.js';
import { readEvents, type SseReader } from './sse-reader.js';

const EPOCH = 'life-1';
const PATH = '/v1/chats/c1/events';

const snapshot = (offset: number): SubscribeResult =>
  ({
    chat: { chatId: 'c1', title: 'two\nlines' },
    position: { epoch: EPOCH, offset },
    mode: 'snapshot',
    messages: [],
    hasMore: false,
    turns: [],
    presence: [],
  }) as unknown as SubscribeResult;

const chatEvent = (offset: number, text = `event ${offset}`, epoch = EPOCH): ChatEvent => ({
  chatId: 'c1',
  epoch,
  offset,
  at: '2026-01-01T00:00:00.000Z',
  type: 'message.appended',
  messageId: 'm1',
  path: 'content',
  from: 0,
  text,
});

const batch = (...events: ChatEvent[]): EventBatch =>
  new EventBatch(
    'c1',
    events.map((event): LoggedEvent => ({
      epoch: event.epoch,
      offset: event.offset,
      type: event.type,
      json: JSON.stringify(event),
    })),
  );

interface Stream extends AsyncDisposable {
  readonly server: TestHttpServer;
  readonly reader: SseReader;
  deliver(...events: ChatEvent[]): void;
}

async function follow(
  options: TestHttpOptions = {},
  path = PATH,
  headers: Record<string, string> = {},
): Promise<Stream> {
  const server = await startHttp({ subscribe: () => snapshot(7), ...options });
  const reader = await readEvents(server.url + path, headers);
  return {
    server,
    reader,
    deliver: (...events) => server.followings.at(-1)!.subscriber.deliver(batch(...events)),
    async [Symbol.asyncDispose]() {
      reader[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const offsets = ({ events }: SseReader) =>
  events.filter(({ event }) => event === 'message').map(({ data }) => (data as ChatEvent).offset);
/** Resolves once the server has noticed. */
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};

describe('section 8: server-sent events', () => {
  test('the answer of the subscription first, then one message per event with its position as the id', async () => {
    await using stream = await follow();
    const { reader } = stream;
    stream.deliver(chatEvent(8), chatEvent(9));
    stream.deliver(chatEvent(10, 'a\nb\r\u2028'));
    await reader.until(({ events }) => events.length === 4);
    expect(reader.events[0]).toEqual({ event: 'snapshot', id: `${EPOCH}:7`, data: snapshot(7) });
    expect(reader.events.slice(1)).toEqual([
      { event: 'message', id: `${EPOCH}:8`, data: chatEvent(8) },
      { event: 'message', id: `${EPOCH}:9`, data: chatEvent(9) },
      { event: 'message', id: `${EPOCH}:10`, data: chatEvent(10, 'a\nb\r\u2028') },
    ]);
  });

  test('C56 no proxy is invited to hold back, compress or store', async () => {
    await using stream = await follow();
    expect(stream.reader.response.statusCode).toBe(200);
    expect(stream.reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(stream.reader.response.headers['content-encoding']).toBeUndefined();
  });

  test('C56 a comment every 15 s', async () => {
    await using stream = await follow();
    const { reader, server } = stream;
    await reader.until(({ events }) => events.length === 1);
    const before = reader.comments.length;
    server.clock.advance(14_999);
    stream.deliver(chatEvent(8));
    await reader.until(() => offsets(reader).length === 1);
    expect(reader.comments).toHaveLength(before);
    server.clock.advance(1);
    await reader.until(({ comments }) => comments.length === before + 1);
    server.clock.advance(45_000);
    await reader.until(({ comments }) => comments.length === before + 4);
  });

  test('SUB-2 on replay the missed events as messages and no snapshot; the first byte comes even when nothing was missed', async () => {
    const replay = (events: ChatEvent[]): SubscribeResult => ({ ...snapshot(9), mode: 'replay', events });
    await using some = await follow(
      { subscribe: () => replay([chatEvent(8), chatEvent(9)]) },
      `${PATH}?position=${EPOCH}:7`,
    );
    some.deliver(chatEvent(10));
    await some.reader.until(() => offsets(some.reader).length === 3);
    expect(some.reader.events.map(({ event, id }) => [event, id])).toEqual(
      [8, 9, 10].map((offset) => ['message', `${EPOCH}:${offset}`]),
    );
    expect(some.server.followings[0]!.args).toEqual({
      chatId: 'c1',
      position: { epoch: EPOCH, offset: 7 },
      messageLimit: 50,
    });

    await using none = await follow({ subscribe: () => replay([]) }, `${PATH}?position=${EPOCH}:9`);
    await none.reader.until(({ comments }) => comments.length === 1);
    expect(none.reader.events).toEqual([]);
  });

  test('what comes before the answer is sent after it, once', async () => {
    await using stream = await follow({
      subscribe: async (_args, subscriber) => {
        subscriber.deliver(batch(chatEvent(6), chatEvent(7)));
        subscriber.deliver(batch(chatEvent(7), chatEvent(8)));
        await Promise.resolve();
        subscriber.deliver(batch(chatEvent(9)));
        return snapshot(7);
      },
    });
    stream.deliver(chatEvent(9), chatEvent(10));
    await stream.reader.until(() => offsets(stream.reader).includes(10));
    expect(stream.reader.events[0]?.event).toBe('snapshot');
    expect(offsets(stream.reader)).toEqual([8, 9, 10]);
  });

  test('events of another epoch are passed on, for the client to see', async () => {
    await using stream = await follow();
    stream.deliver(chatEvent(1, 'x', 'life-2'));
    await stream.reader.until(({ events }) => events.length === 2);
    expect(stream.reader.events[1]?.id).toBe('life-2:1');
  });

  test('Last-Event-ID goes before ?position=; one that cannot be read counts for none', async () => {
    await using server = await startHttp({ subscribe: () => snapshot(7) });
    const asked = async (query: string, headers: Record<string, string>) => {
      using _reader = await readEvents(server.url + PATH + query, headers);
      return server.followings.at(-1)!.args;
    };
    expect(await asked('?position=e:1', { 'last-event-id': 'e:5' })).toMatchObject({
      position: { epoch: 'e', offset: 5 },
    });
    expect(await asked('?position=e:1&messageLimit=200', { 'last-event-id': '' })).toEqual({
      chatId: 'c1',
      position: { epoch: 'e', offset: 1 },
      messageLimit: 200,
    });
    expect(await asked('', { 'last-event-id': 'something else' })).toEqual({ chatId: 'c1', messageLimit: 50 });
    expect(await asked('', { 'last-event-id': `${'e'.repeat(65)}:1` })).not.toHaveProperty('position');
  });

  test.each([
    '?position=17',
    '?position=:1',
    '?position=e:-1',
    '?position=e:1.5',
    '?position=e:9999999999999999',
    '?position=',
    '?position=e:1&position=e:2',
    '?messageLimit=0',
    '?messageLimit=201',
    '?messageLimit=abc',
    '?messageLimit=1&messageLimit=2',
  ])('%s is refused as JSON', async (query) => {
    await using server = await startHttp({ subscribe: () => snapshot(7) });
    const refused = await server.request('GET', PATH + query);
    expect([refused.status, refused.json]).toMatchObject([400, { error: { code: 'bad_request' } }]);
    expect(server.followings).toEqual([]);
  });

  test('a chat that cannot be followed is answered as JSON, and its place is given back', async () => {
    let places = 0;
    const admit = () => {
      places++;
      return () => void places--;
    };
    const subscribe = () => {
      throw new ChatError('not_found');
    };
    await using server = await startHttp({ admit, subscribe });
    const refused = await server.request('GET', PATH);
    expect([refused.status, refused.json]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect(places).toBe(0);
    expect(server.clock.waiting).toBe(0);
  });

  test('a user with too many connections is refused', async () => {
    const admit = () => {
      throw new ChatError('too_many_connections');
    };
    await using server = await startHttp({ admit, subscribe: () => snapshot(7) });
    expect((await server.request('GET', PATH)).status).toBe(429);
    expect(server.followings).toEqual([]);
  });

  test('HEAD and POST do not follow', async () => {
    await using server = await startHttp({ subscribe: () => snapshot(7) });
    for (const method of ['HEAD', 'POST']) {
      const refused = await server.request(method, PATH);
      expect([refused.status, refused.headers.allow]).toEqual([404, 'GET']);
    }
    expect(server.followings).toEqual([]);
  });

  test('a reader that leaves leaves the chat; nothing is kept', async () => {
    await using server = await startHttp({ subscribe: () => snapshot(7) });
    const reader = await readEvents(server.url + PATH);
    const connections = async () => (await server.metrics.connections.get()).values[0]?.value;
    expect(await connections()).toBe(1);
    reader[Symbol.dispose]();
    await until(() => server.followings[0]!.left);
    expect(server.clock.waiting).toBe(0);
    expect(await connections()).toBe(0);
    server.followings[0]!.subscriber.deliver(batch(chatEvent(8)));
  });

  test('a reader that leaves before the answer leaves the chat too', async () => {
    let answer: (result: SubscribeResult) => void = () => {};
    await using server = await startHttp({ subscribe: () => new Promise((resolve) => (answer = resolve)) });
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`GET ${PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`),
    );
    await until(() => server.followings.length === 1);
    socket.destroy();
    await until(() => server.lines.some((line) => line.includes('answered')));
    answer(snapshot(7));
    await until(() => server.followings[0]!.left);
    expect(server.clock.waiting).toBe(0);
  });

  test('SUB-5 a subscription that ends ends the response, after what was delivered', async () => {
    await using stream = await follow();
    stream.deliver({ chatId: 'c1', epoch: EPOCH, offset: 8, at: '2026-01-01T00:00:00.000Z', type: 'chat.deleted' });
    stream.server.followings[0]!.subscriber.ended();
    stream.deliver(chatEvent(9));
    await until(() => stream.reader.ended);
    expect(stream.reader.response.complete).toBe(true);
    expect(stream.reader.events.map(({ data }) => (data as ChatEvent).type)).toEqual([undefined, 'chat.deleted']);
  });

  test('a subscription that ended while it was answered ends at once', async () => {
    await using stream = await follow({
      subscribe: (_args, subscriber) => {
        subscriber.ended();
        return snapshot(7);
      },
    });
    await until(() => stream.reader.ended);
    expect(stream.reader.response.complete).toBe(true);
    expect(stream.reader.events.map(({ event }) => event)).toEqual(['snapshot']);
  });

  test('presence and signals are not sent', async () => {
    await using stream = await follow();
    const { subscriber } = stream.server.followings[0]!;
    subscriber.presence({ chatId: 'c1', users: [] });
    subscriber.signal({ chatId: 'c1', requestId: 'r1', name: 'x', data: 1 });
    stream.deliver(chatEvent(8));
    await stream.reader.until(() => offsets(stream.reader).length === 1);
    expect(stream.reader.events).toHaveLength(2);
  });

  test('a stream ends with the identity that opened it', async () => {
    const identity = {
      userId: 'ann',
      teamId: null,
      tenantId: null,
      roles: ['user' as const],
      assistants: null,
      expiresAt: 20_000,
    };
    await using stream = await follow({ authenticator: { authenticate: async () => identity } });
    stream.server.clock.advance(19_999);
    stream.deliver(chatEvent(8));
    await stream.reader.until(() => offsets(stream.reader).length === 1);
    expect(stream.reader.ended).toBe(false);
    stream.server.clock.advance(1);
    await until(() => stream.reader.ended);
    expect(stream.reader.response.complete).toBe(true);
  });

  test('LIF-1 a server that stops ends every stream and opens no more', async () => {
    await using stream = await follow();
    using other = await readEvents(stream.server.url + PATH);
    stream.deliver(chatEvent(8));
    stream.server.app.endStreams();
    await until(() => stream.reader.ended && other.ended);
    expect(offsets(other)).toEqual([8]);
    expect([stream.reader.response.complete, other.response.complete]).toEqual([true, true]);
    await until(() => stream.server.clock.waiting === 0);
    expect(await stream.server.request('GET', PATH)).toMatchObject({
      status: 503,
      json: { error: { code: 'draining' } },
    });
  });

  test('SUB-7 a reader that does not read is closed and slows nobody', async () => {
    await using stream = await follow({ maxOutboxBytes: 64 * 1024 });
    const { server, reader } = stream;
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`GET ${PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`),
    );
    let closed = false;
    socket.on('close', () => (closed = true));
    socket.pause();
    await until(() => server.followings.length === 2);
    const [reading, deaf] = server.followings;
    const text = 'x'.repeat(50_000);
    let offset = 8;
    for (; !deaf!.left; offset++) {
      const events = batch(chatEvent(offset, text));
      for (const { subscriber } of [reading!, deaf!]) subscriber.deliver(events);
      await new Promise((resolve) => setImmediate(resolve));
      expect(server.app.outboxBytes).toBeLessThan(2 * 17 * 64 * 1024);
    }
    await reader.until(() => offsets(reader).length === offset - 8);
    expect(offsets(reader)).toEqual(Array.from({ length: offset - 8 }, (_, i) => i + 8));
    expect(server.app.outboxBytes).toBe(0);
    socket.resume();
    await until(() => closed);
    expect(server.lines.join('')).toContain('slow reader of events closed');
  });
});
