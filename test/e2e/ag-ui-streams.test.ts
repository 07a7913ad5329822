import { describe, expect, test } from 'vitest';
import type { AgUiEvent } from '../../protocol/ag-ui/index.js';
import { ChatError, type ChatEvent, type SubscribeResult } from '../../protocol/index.js';
import { EventBatch } from '../../server/session/subscriber.js';
import { ConnectionLimit } from '../../server/wire/connection-limit.js';
import { AT, CHAT, chatRow, messageRow, turnRow } from '../unit/client/rows.js';
import { batch, until } from './event-stream.js';
import { startHttp, type TestHttpOptions } from './http-server.js';
import { readEvents, type SseReader } from './sse-reader.js';

/** The door of AG-UI in front of a desk that a test scripts: what streams of turns do whatever is told in them. */

const RUN = 'turn-1';
const open = (content: string) => messageRow(2, { requestId: RUN, state: 'open', props: { content } });

const snapshot = (offset: number, content = 'Hel', epoch = 'life-1'): SubscribeResult => ({
  chat: chatRow(),
  position: { epoch, offset },
  mode: 'snapshot',
  messages: [open(content)],
  hasMore: false,
  turns: [turnRow(RUN)],
  presence: [],
});

const appended = (offset: number, from: number, text: string, epoch = 'life-1'): ChatEvent => ({
  ...{ chatId: CHAT, epoch, offset, at: AT, requestId: RUN },
  ...{ type: 'message.appended', messageId: 'message-2', path: 'content', from, text },
});

const ended = (offset: number): ChatEvent => ({
  ...{ chatId: CHAT, epoch: 'life-1', offset, at: AT, requestId: RUN },
  ...{ type: 'turn.ended', turn: turnRow(RUN, { status: 'completed' }), persisted: true },
});

async function joined(options: TestHttpOptions = {}) {
  const server = await startHttp({ subscribe: () => snapshot(7), answer: () => ({ steps: [] }), ...options });
  const body = { threadId: CHAT, runId: 'any', messages: [] };
  const reader = await readEvents(`${server.url}/v1/ag-ui/connect`, {}, body);
  return {
    server,
    reader,
    deliver: (...events: ChatEvent[]) => server.followings.at(-1)!.subscriber.deliver(batch(...events)),
    async [Symbol.asyncDispose]() {
      reader[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const told = ({ events }: SseReader) => events.map(({ data }) => data as AgUiEvent);
const types = (reader: SseReader) => told(reader).map(({ type }) => type);
const isOver = (reader: SseReader) => reader.ended;

describe('AG-UI: the stream of a run', () => {
  test('the headers of an event stream, and the place in the log as the id', async () => {
    await using stream = await joined();
    stream.deliver(appended(8, 3, 'lo'), appended(9, 5, '!'));
    await stream.reader.until(({ events }) => events.length === 6);
    expect(stream.reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(stream.reader.events.map(({ id }) => id)).toEqual([
      ...Array<string>(4).fill('life-1:7'),
      'life-1:8',
      'life-1:9',
    ]);
    stream.deliver(appended(8, 3, 'lo'));
    stream.deliver(ended(10));
    await until(() => isOver(stream.reader));
    expect(types(stream.reader).slice(4)).toEqual([
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(stream.reader.response.complete).toBe(true);
    await until(() => stream.server.followings[0]!.left);
    expect(stream.server.clock.waiting).toBe(0);
  });

  test('C56 a comment every 15 s', async () => {
    await using stream = await joined();
    const before = stream.reader.comments.length;
    stream.server.clock.advance(15_000);
    await stream.reader.until(({ comments }) => comments.length === before + 1);
    stream.server.clock.advance(45_000);
    await stream.reader.until(({ comments }) => comments.length === before + 4);
  });

  test.each([
    ['a hole', appended(9, 0, 'never told')],
    ['another life of the log', appended(8, 0, 'never told', 'life-2')],
  ])('SUB-4 %s: it subscribes again from its position, and what a snapshot brings is told', async (_what, event) => {
    const answers = [snapshot(7), snapshot(12, 'Hello, you')];
    await using stream = await joined({ subscribe: () => answers.shift()! });
    const { server, reader } = stream;
    stream.deliver(event);
    await reader.until(() => types(reader).filter((type) => type === 'MESSAGES_SNAPSHOT').length === 2);
    expect(server.followings[0]!.left).toBe(true);
    expect(server.followings[1]!.args).toMatchObject({ chatId: CHAT, position: { epoch: 'life-1', offset: 7 } });
    stream.deliver(appended(13, 10, '!'), ended(14));
    await until(() => isOver(reader));
    const texts = told(reader).flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : []));
    expect(texts).toEqual(['Hel', 'Hello, you', '!']);
    expect(types(reader).filter((type) => type === 'RUN_STARTED')).toHaveLength(1);
  });

  test('SUB-2 what a replay brings is told as if it had come in time', async () => {
    const replay = { ...snapshot(9), mode: 'replay' as const, events: [appended(8, 3, 'l'), appended(9, 4, 'o')] };
    const answers = [snapshot(7), replay];
    await using stream = await joined({ subscribe: () => answers.shift()! });
    stream.deliver(appended(9, 4, 'o'));
    await stream.reader.until(({ events }) => events.length === 6);
    stream.deliver(ended(10));
    await until(() => isOver(stream.reader));
    expect(types(stream.reader).filter((type) => type === 'MESSAGES_SNAPSHOT')).toHaveLength(1);
  });

  test('where it cannot subscribe again, the run ends with RUN_ERROR', async () => {
    const answers = [() => snapshot(7)];
    const gone = (): never => {
      throw new ChatError('not_found');
    };
    await using stream = await joined({ subscribe: () => (answers.shift() ?? gone)() });
    stream.deliver(appended(20, 0, ''));
    await until(() => isOver(stream.reader));
    expect(told(stream.reader).slice(-2)).toMatchObject([
      { type: 'TEXT_MESSAGE_END' },
      { type: 'RUN_ERROR', code: 'not_found' },
    ]);
  });

  test('an event that does not fit ends this stream alone, with RUN_ERROR', async () => {
    await using stream = await joined();
    stream.deliver(appended(8, 1, 'misfit'));
    await until(() => isOver(stream.reader));
    expect(told(stream.reader).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(stream.server.lines.join()).toContain('append at 1');
  });

  test('LIF-1: all open streams end with RUN_ERROR, and no new one begins', async () => {
    await using stream = await joined();
    stream.server.app.endStreams();
    await until(() => isOver(stream.reader));
    expect(told(stream.reader).at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'draining',
      metadata: { isCut: true, retryable: true },
    });
    const body = { threadId: CHAT, runId: 'any', messages: [] };
    expect((await stream.server.request('POST', '/v1/ag-ui/connect', { body })).status).toBe(503);
  });

  test('SUB-7 who does not read is cut off, and slows nobody', async () => {
    await using stream = await joined({ maxOutboxBytes: 1024 });
    stream.reader.response.pause();
    const text = 'x'.repeat(64 * 1024);
    let from = 3;
    for (let offset = 8; offset < 600; offset++, from += text.length) stream.deliver(appended(offset, from, text));
    await until(() => stream.server.followings[0]!.left);
    expect(stream.server.lines.join()).toContain('slow reader of a turn closed');
    expect(stream.server.app.outboxBytes).toBe(0);
  });

  test('a stream counts as a connection of its user', async () => {
    await using stream = await joined({ connectionLimit: new ConnectionLimit(1) });
    const { server } = stream;
    const body = { threadId: CHAT, runId: 'any', messages: [] };
    expect((await server.request('POST', '/v1/ag-ui/connect', { body })).status).toBe(429);
    stream.deliver(ended(8));
    await until(() => isOver(stream.reader));
    const next = await readEvents(`${server.url}/v1/ag-ui/connect`, {}, body);
    expect(next.response.statusCode).toBe(200);
    next[Symbol.dispose]();
  });

  test('a reader that leaves before the answer leaves nothing', async () => {
    let answer: (result: SubscribeResult) => void = () => undefined;
    await using server = await startHttp({ subscribe: () => new Promise((resolve) => (answer = resolve)) });
    const leaving = new AbortController();
    const body = JSON.stringify({ threadId: CHAT, runId: 'any', messages: [] });
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(`${server.url}/v1/ag-ui/connect`, { method: 'POST', headers, body, signal: leaving.signal });
    await until(() => server.followings.length === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until(() => server.lines.some((line) => line.includes('answered')));
    answer(snapshot(7));
    await until(() => server.followings[0]!.left);
    expect(server.clock.waiting).toBe(0);
    server.followings[0]!.subscriber.deliver(new EventBatch(CHAT, []));
  });
});
