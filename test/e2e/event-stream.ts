import type { ChatEvent, SubscribeResult } from '../../protocol/index.js';
import type { LoggedEvent } from '../../server/ports/live-log.js';
import { EventBatch } from '../../server/session/subscriber.js';
import { startHttp, type TestHttpOptions, type TestHttpServer } from './http-server.js';
import { readEvents, type SseReader } from './sse-reader.js';

export const EPOCH = 'life-1';
export const PATH = '/v1/chats/c1/events';

export const snapshot = (offset: number): SubscribeResult =>
  ({
    chat: { chatId: 'c1', title: 'two\nlines' },
    position: { epoch: EPOCH, offset },
    mode: 'snapshot',
    messages: [],
    hasMore: false,
    turns: [],
    presence: [],
  }) as unknown as SubscribeResult;

export const chatEvent = (offset: number, text = `event ${offset}`, epoch = EPOCH): ChatEvent => ({
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

export const batch = (...events: ChatEvent[]): EventBatch =>
  new EventBatch(
    'c1',
    events.map((event): LoggedEvent => ({
      epoch: event.epoch,
      offset: event.offset,
      type: event.type,
      json: JSON.stringify(event),
    })),
  );

export interface Stream extends AsyncDisposable {
  readonly server: TestHttpServer;
  readonly reader: SseReader;
  deliver(...events: ChatEvent[]): void;
}

/** A reader of one chat, and the server it reads from. */
export async function follow(
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

export const offsets = ({ events }: SseReader) =>
  events.filter(({ event }) => event === 'message').map(({ data }) => (data as ChatEvent).offset);
/** Resolves once the server has noticed. */
export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};
