import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ChatEvent, SubscribeResult } from '../../protocol/index.js';
import { batch, chatEvent, EPOCH, follow, offsets, PATH, snapshot, until } from './event-stream.js';
import { startHttp } from './http-server.js';
import { readEvents } from './sse-reader.js';

describe('section 8: how a stream of server-sent events ends', () => {
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
    stream.server.followings[0]!.subscriber.ended('deleted');
    stream.deliver(chatEvent(9));
    await until(() => stream.reader.ended);
    expect(stream.reader.response.complete).toBe(true);
    expect(stream.reader.events.map(({ data }) => (data as ChatEvent).type)).toEqual([undefined, 'chat.deleted']);
  });

  test('a subscription that ended while it was answered ends at once', async () => {
    await using stream = await follow({
      subscribe: (_args, subscriber) => {
        subscriber.ended('deleted');
        return snapshot(7);
      },
    });
    await until(() => stream.reader.ended);
    expect(stream.reader.response.complete).toBe(true);
    expect(stream.reader.events.map(({ event }) => event)).toEqual(['snapshot']);
  });

  test('a stream ends with the identity that opened it', async () => {
    const identity = {
      userId: 'ann',
      teamId: null,
      tenantId: null,
      roles: ['user' as const],
      assistants: null,
      expiresAt: 20_000,
      token: null,
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
