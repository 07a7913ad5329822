import { request as httpRequest, type IncomingMessage } from 'node:http';

interface SseEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** Reads a stream of server-sent events from its first byte on. */
export interface SseReader extends Disposable {
  readonly response: IncomingMessage;
  readonly events: SseEvent[];
  readonly comments: string[];
  readonly ended: boolean;
  /** Resolves once what came so far makes `enough` true; rejects when the stream ends without. */
  until(enough: (reader: SseReader) => boolean): Promise<void>;
}

/** @param body sent with POST; without one it is a GET */
export function readEvents(url: string, headers: Record<string, string> = {}, body?: unknown): Promise<SseReader> {
  return new Promise((resolve, reject) => {
    const posted = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: 'text/event-stream', ...posted, ...headers },
      agent: false,
    };
    const request = httpRequest(url, options, (response) => {
      resolve(readerOf(response, () => void request.destroy()));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function readerOf(response: IncomingMessage, close: () => void): SseReader {
  const events: SseEvent[] = [];
  const comments: string[] = [];
  const waiters = new Set<() => void>();
  let ended = false;
  let rest = '';
  const changed = (): void => {
    for (const waiter of waiters) waiter();
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) comments.push(block.slice(1).trim());
      else events.push(eventOf(block));
    }
    changed();
  });
  response.on('error', () => {});
  response.on('close', () => {
    ended = true;
    changed();
  });
  const reader: SseReader = {
    response,
    events,
    comments,
    get ended() {
      return ended;
    },
    until: (enough) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!enough(reader) && !ended) return;
          waiters.delete(look);
          if (enough(reader)) resolve();
          else reject(new Error(`the stream ended after ${events.length} events`));
        };
        waiters.add(look);
        look();
      }),
    [Symbol.dispose]: close,
  };
  return reader;
}

function eventOf(block: string): SseEvent {
  const fields = new Map(block.split('\n').map((line) => /^(\w+): (.*)$/s.exec(line)?.slice(1) as [string, string]));
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id') ?? null,
    data: JSON.parse(fields.get('data') ?? 'null'),
  };
}
