import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { until } from './until.js';

/** Something that the model server does in the course of an answer, in order. */
export type Piece =
  /** A text delta. `splitBytes`: its last character comes in two TCP chunks, cut within its UTF-8 bytes. */
  | { readonly text: string; readonly splitBytes?: boolean }
  | { readonly reasoning: string }
  /** A fragment of a tool call: the first one of an index has the id and the name, the others more of the arguments. */
  | { readonly tool: { readonly index: number; readonly id?: string; readonly name?: string; readonly args?: string } }
  | { readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter' }
  | { readonly usage: Readonly<Record<string, unknown>> }
  /** Any JSON as an event. */
  | { readonly event: unknown }
  /** Bytes as they are. */
  | { readonly raw: string }
  | { readonly waitMs: number }
  /** Nothing more until {@link ModelServer.release}. */
  | { readonly hold: true }
  /** The connection breaks off. */
  | { readonly cut: true }
  /** The answer ends as if it were complete, without `[DONE]`. */
  | { readonly close: true };

/** An answer of status 200 that streams, or an error. */
export type Answer =
  | readonly Piece[]
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

/** What the model was asked. */
export interface ModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly messages: readonly Readonly<Record<string, unknown>>[];
  };
}

export const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** A plain answer in these deltas. */
export const says = (...deltas: string[]): Piece[] => [
  ...deltas.map((text) => ({ text })),
  { finish: 'stop' },
  { usage: USAGE },
];

/** An answer that asks for tools, the arguments in two fragments each. */
export const callsTools = (...calls: { id: string; name: string; args: unknown }[]): Piece[] => [
  ...calls.flatMap(({ id, name, args }, index): Piece[] => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const half = Math.floor(text.length / 2);
    return [{ tool: { index, id, name, args: text.slice(0, half) } }, { tool: { index, args: text.slice(half) } }];
  }),
  { finish: 'tool_calls' },
  { usage: USAGE },
];

/** An error as OpenAI words it. */
export const fails = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers,
  body: { error: { message, type: 'error', param: null, code: null } },
});

/**
 * A model on a server of its own that speaks OpenAI's streaming chat API and says what a test tells it to: each request
 * takes the next answer of the queue. `answer` may be a function, for answers that depend on what was asked.
 */
export class ModelServer {
  readonly requests: ModelRequest[] = [];
  /** Connections that were ever made to it, with a request or without. */
  connections = 0;
  /** Answers under way. One whose caller has gone is not: fetch may open a connection in its place and leave it idle. */
  answering = 0;
  /** For requests beyond the queue. */
  fallback: Answer = fails(500, 'the test has told no answer');
  readonly #queue: (Answer | ((request: ModelRequest) => Answer))[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.#server.on('connection', (socket) => {
      this.connections++;
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    onTestFinished(() => this.close());
  }

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** What goes into `OPENAI_BASE_URL`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Puts answers behind those that wait for a request. */
  answer(...answers: (Answer | ((request: ModelRequest) => Answer))[]): void {
    this.#queue.push(...answers);
  }

  /** Waits until so many requests have come. */
  async asked(times: number): Promise<ModelRequest> {
    await until(() => this.requests.length >= times, `${times} requests to the model`);
    return this.requests[times - 1]!;
  }

  /** Waits until an answer is held. */
  async holds(): Promise<void> {
    await until(() => this.#waiting.size > 0, 'an answer that is held');
  }

  /** Lets all answers go on that are held. */
  release(): void {
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  close(): void {
    this.release();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
    const body = JSON.parse(Buffer.concat(chunks).toString()) as ModelRequest['body'];
    const asked = { headers: request.headers, body };
    this.requests.push(asked);
    const next = this.#queue.shift() ?? this.fallback;
    const answer = typeof next === 'function' ? next(asked) : next;
    if ('status' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      return void response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    this.answering++;
    response.on('close', () => this.answering--);
    response.flushHeaders();
    for (const piece of answer) {
      if (response.destroyed) return;
      if ('close' in piece) return void response.end();
      await this.#play(piece, response, String(body['model']));
    }
    response.end('data: [DONE]\n\n');
  }

  async #play(piece: Piece, response: ServerResponse, model: string): Promise<void> {
    if ('waitMs' in piece) await sleep(piece.waitMs);
    else if ('hold' in piece) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    else if ('cut' in piece) response.destroy();
    else if ('raw' in piece) await flushed(response, piece.raw);
    else if ('text' in piece && piece.splitBytes === true) await inHalves(response, encoded(piece, model));
    else await flushed(response, encoded(piece, model));
  }
}

const flushed = (response: ServerResponse, bytes: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => response.write(bytes, () => resolve()));

/** Cuts within the last character of more than one byte, and lets the first part arrive alone. */
async function inHalves(response: ServerResponse, event: string): Promise<void> {
  const bytes = Buffer.from(event);
  const inside = bytes.findLastIndex((byte) => byte >= 0x80 && byte < 0xc0);
  await flushed(response, bytes.subarray(0, inside));
  await sleep(20);
  await flushed(response, bytes.subarray(inside));
}

/** The event of a piece, as OpenAI's servers write it: usage comes with no choices. */
function encoded(piece: Piece, model: string): string {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const choice = (delta: unknown, finish: string | null = null) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const event = (() => {
    if ('text' in piece) return choice({ role: 'assistant', content: piece.text });
    if ('reasoning' in piece) return choice({ role: 'assistant', reasoning_content: piece.reasoning });
    if ('finish' in piece) return choice({}, piece.finish);
    if ('usage' in piece) return { ...chunk, choices: [], usage: piece.usage };
    if ('event' in piece) return piece.event;
    if (!('tool' in piece)) throw new Error('a piece without an event');
    const { index, id, name, args = '' } = piece.tool;
    const start = id === undefined ? {} : { id, type: 'function' };
    return choice({ tool_calls: [{ index, ...start, function: { ...(name ? { name } : {}), arguments: args } }] });
  })();
  return `data: ${JSON.stringify(event)}\n\n`;
}
