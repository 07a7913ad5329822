import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { DEFAULT_LIMITS, type Args, type SubscribeResult } from '../../protocol/index.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { createMetrics } from '../../server/metrics.js';
import type { AgentDesk } from '../../server/session/desk/agent-desk.js';
import type { ChatDesk } from '../../server/session/desk/chat-desk.js';
import type { Identity } from '../../server/session/identity.js';
import type { Subscriber } from '../../server/session/subscriber.js';
import { createAddressOf } from '../../server/wire/address.js';
import { createAdmission } from '../../server/wire/admission.js';
import { createAuditLog } from '../../server/wire/audit-log.js';
import { createOpenAuthenticator, type Authenticator } from '../../server/wire/authenticate.js';
import { ConnectionLimit } from '../../server/wire/connection-limit.js';
import { createDispatch } from '../../server/wire/dispatch.js';
import { createHttpApp, type HttpApp, type HttpAppNeeds } from '../../server/wire/http/app.js';
import { createOriginPolicy } from '../../server/wire/http/origins.js';
import { createHttpServer } from '../../server/wire/http/server.js';
import { manualClock, type ManualClock } from '../contract/manual-clock.js';

/** What arrived at the desk. */
interface Call {
  readonly name: string;
  readonly identity: Identity;
  readonly args: unknown;
}

interface Following {
  readonly subscriber: Subscriber;
  readonly args: Args<'chat:subscribe'>;
  /** Whether the stream has left the chat. */
  left: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body where it is JSON. */
  readonly json: unknown;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface TestHttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly clock: ManualClock;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly app: HttpApp;
  /** Commands that passed the door, oldest first. */
  readonly calls: Call[];
  readonly followings: Following[];
  /** Lines of the log. */
  readonly lines: string[];
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Sends bytes as they are and gives all that comes until the server closes. */
  bytes(text: string): Promise<string>;
}

export interface TestHttpOptions extends Partial<Pick<HttpAppNeeds, 'health' | 'connectionLimit' | 'rateLimit'>> {
  readonly authenticator?: Authenticator;
  /** What the desk answers to a command; `{}` where it does not say. May throw. */
  readonly answer?: (name: string, args: unknown) => unknown;
  readonly subscribe?: (
    args: Args<'chat:subscribe'>,
    subscriber: Subscriber,
  ) => SubscribeResult | Promise<SubscribeResult>;
  readonly corsOrigins?: readonly string[];
  readonly loopbackOnly?: boolean;
  readonly maxFrameBytes?: number;
  readonly maxOutboxBytes?: number;
}

const noAgents: AgentDesk = {
  run: () => Promise.reject(new Error('no agent comes in by this door')),
  renewed() {},
  disconnected() {},
};

/** The HTTP door on a free port, in front of a desk that a test scripts: parsing and dispatch are the real ones. */
export async function startHttp(options: TestHttpOptions = {}): Promise<TestHttpServer> {
  const clock = manualClock();
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const calls: Call[] = [];
  const followings: Following[] = [];
  const desk: ChatDesk = {
    async run(name, identity, args) {
      calls.push({ name, identity, args });
      return (options.answer?.(name, args) ?? {}) as never;
    },
    async subscribe(_identity, args, subscriber) {
      const following: Following = { subscriber, args, left: false };
      followings.push(following);
      if (!options.subscribe) throw new Error('not scripted');
      return { result: await options.subscribe(args, subscriber), unsubscribe: () => void (following.left = true) };
    },
    async typing() {},
    async renewed() {},
    gone() {},
  };
  const rateLimit = options.rateLimit ?? { command: async () => {}, bytes: async () => {} };
  const audit = createAuditLog(log);
  const app = createHttpApp({
    // The time at which a refusal is told is the real one: nobody advances the other while a request waits.
    dispatch: createDispatch({ desk, agentDesk: noAgents, audit, metrics, log, clock: systemClock }),
    admission: createAdmission({
      authenticator: options.authenticator ?? createOpenAuthenticator(),
      rateLimit: { mustHaveTries: async () => {}, failed() {} },
      audit,
      log,
    }),
    addressOf: createAddressOf([]),
    revocations: { mustStand() {}, watch: () => () => {} },
    rateLimit,
    origins: createOriginPolicy({ corsOrigins: options.corsOrigins ?? [], loopbackOnly: options.loopbackOnly ?? true }),
    health: options.health ?? (() => ({ store: true, log: true, journal: true, draining: false })),
    connectionLimit: options.connectionLimit ?? new ConnectionLimit(100),
    metrics,
    log,
    clock,
    ids: systemIds,
    settings: {
      maxFrameBytes: options.maxFrameBytes ?? 1024 * 1024,
      maxMessageBytes: DEFAULT_LIMITS.maxMessageBytes,
      maxOutboxBytes: options.maxOutboxBytes ?? 1024 * 1024,
      pagesFolder: null,
      imageOrigins: [],
    },
    serverVersion: '1.2.3',
  });
  const server = createHttpServer(app.handle, { maxConnections: 1_000, slowestMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    clock,
    metrics,
    app,
    calls,
    followings,
    lines,
    request: (method, path, { body, raw, headers = {} } = {}) => {
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      // Node frames a body of its own accord for some methods only.
      const length =
        payload === undefined || 'transfer-encoding' in headers
          ? {}
          : { 'content-length': `${Buffer.byteLength(payload)}` };
      return answerOf(port, method, path, { ...type, ...length, ...headers }, payload);
    },
    bytes: (text) => bytesOf(port, text),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The one command that a request became since `calls` was last emptied. */
export async function commandOf(server: TestHttpServer, method: string, path: string, options?: RequestOptions) {
  const { status, text } = await server.request(method, path, options);
  if (status >= 300) throw new Error(`${method} ${path} was refused: ${text}`);
  if (server.calls.length !== 1) throw new Error(`${method} ${path} became ${server.calls.length} commands`);
  const [{ name, args }] = server.calls as [Call];
  return { name, args, status };
}

/** The error object of an answer. */
export const refusalOf = ({ json }: Answer) => (json as { error: { code: string; details?: { path?: string } } }).error;

function answerOf(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
  payload: string | Buffer | undefined,
) {
  return new Promise<Answer>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text, response) });
      });
    });
    request.on('error', reject);
    request.end(payload);
  });
}

const jsonOf = (text: string, { headers }: IncomingMessage): unknown =>
  text !== '' && /^application\/json\b/.test(headers['content-type'] ?? '') ? JSON.parse(text) : undefined;

function bytesOf(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (received += chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}
