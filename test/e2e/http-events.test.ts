import { describe, expect, test } from 'vitest';
import { ChatError, type ChatEvent, type SubscribeResult } from '../../protocol/index.js';
import { batch, chatEvent, EPOCH, follow, offsets, PATH, snapshot } from './event-stream.js';
import { startHttp } from './http-server.js';
import { readEvents } from './sse-reader.js';

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
    await using server = await startHttp({ connectionLimit: { take: admit }, subscribe });
    const refused = await server.request('GET', PATH);
    expect([refused.status, refused.json]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect(places).toBe(0);
    expect(server.clock.waiting).toBe(0);
  });

  test('a user with too many connections is refused', async () => {
    const admit = () => {
      throw new ChatError('too_many_connections');
    };
    await using server = await startHttp({ connectionLimit: { take: admit }, subscribe: () => snapshot(7) });
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

  test('presence and signals are not sent', async () => {
    await using stream = await follow();
    const { subscriber } = stream.server.followings[0]!;
    subscriber.presence({ chatId: 'c1', users: [] });
    subscriber.signal({ chatId: 'c1', requestId: 'r1', name: 'x', data: 1 });
    stream.deliver(chatEvent(8));
    await stream.reader.until(() => offsets(stream.reader).length === 1);
    expect(stream.reader.events).toHaveLength(2);
  });
});
