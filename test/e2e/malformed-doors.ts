import { Agent as KeepAlive, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import * as z from 'zod';
import {
  ERRORS,
  type Ack,
  type AgentResult,
  type CommandSpec,
  type ErrorBody,
  type HttpBinding,
  type Result,
} from '../../protocol/index.js';
import { Refused, uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { until } from '../harness/until.js';
import type { Facts, Written } from './malformed-arguments.js';
import type { Connection, Frames, Greeting } from './malformed-packets.js';
import { expectRefusal } from './malformed-siege.js';
import { headersOf } from './request-as.js';

/** In a tenant of their own, so that even an admin's command that is taken has nobody else to meet. */
const MALLORY = { userId: 'mallory', tenantId: 'elsewhere', roles: ['user', 'agent', 'admin'] };

/** Names of arguments for which there is something real. */
export const PEOPLE_FACTS = ['chatId', 'requestId', 'messageId', 'stackId', 'epoch', 'assistantId'];
export const AGENT_FACTS = [...PEOPLE_FACTS.filter((name) => name !== 'epoch'), 'attempt', 'seq', 'agentId'];

/** How a command comes: with an ack, with none, or with more arguments than it has. */
export const FORMS = ['ack', 'silent', 'more'] as const;
type Form = (typeof FORMS)[number];

/** A connection that sends events as text and takes what it is assigned. */
export class SocketDoor {
  #sent = 0;

  private constructor(
    private readonly raw: RawSocket,
    private readonly head: string,
  ) {
    raw.ws.on('message', (data: Buffer) => {
      const [, id] = /^42\/agents,(\d+)\["turn:assigned"/.exec(data.toString('latin1')) ?? [];
      if (id) raw.send(`43/agents,${id}[{"ok":true,"data":null}]`);
    });
  }

  static async open(url: string, namespace: '/' | '/agents'): Promise<SocketDoor> {
    const isAgents = namespace === '/agents';
    const raw = await RawSocket.open(url, { ...MALLORY, ...(isAgents ? { namespace } : {}) });
    return new SocketDoor(raw, isAgents ? `${namespace},` : '');
  }

  /** @returns the number by which its answer is found; null where none is asked for */
  send(name: string, json: string, form: Form = 'ack'): number | null {
    const id = ++this.#sent;
    const more = form === 'more' ? `,{},null,${json.length < 1000 ? json : '0'}` : '';
    this.raw.send(`42${this.head}${form === 'silent' ? '' : id}[${JSON.stringify(name)},${json}${more}]`);
    return form === 'silent' ? null : id;
  }

  async answer(id: number, what: string): Promise<unknown> {
    const head = `3${this.head}${id}[`;
    const packet = await until(() => {
      if (this.raw.closed !== null) throw new Error(`closed (${this.raw.closed}) instead of an answer to ${what}`);
      return this.raw.packets.find((candidate) => candidate.startsWith(head));
    }, `an answer to ${what}`);
    return (JSON.parse(packet.slice(head.length - 1)) as unknown[])[0];
  }

  /** For what is not malformed. */
  async ask<T>(name: string, args: object): Promise<T> {
    const ack = (await this.answer(this.send(name, JSON.stringify(args)) as number, name)) as Ack<T>;
    if (!ack.ok) throw new Refused(name, ack.error);
    return ack.data;
  }

  forget(): void {
    this.raw.packets.length = 0;
  }

  close(): void {
    this.raw.ws.terminate();
  }
}

/** What the attacker has of their own: chats that nothing has spoilt yet, with real things for the arguments to name. */
export class Mallory {
  private constructor(
    private readonly person: Person,
    readonly door: SocketDoor,
  ) {}

  static async at(url: string, namespace: '/' | '/agents'): Promise<Mallory> {
    return new Mallory(await new Person(url, MALLORY).open(), await SocketDoor.open(url, namespace));
  }

  /** A turn that has ended: for people. */
  async ended(): Promise<Facts> {
    const chatId = await this.person.createChat({ assistantId: 'echo' });
    const { turn, messages } = await this.person.start(chatId, 'a b', { metadata: { delayMs: 0 } });
    const { requestId } = turn;
    await until(async () => (await this.person.turn(requestId)).status === 'completed', 'the end of an echo');
    const { position } = await this.person.do<Result<'message:list'>>('message:list', { chatId });
    const messageId = messages[0]?.messageId ?? '';
    return { chatId, requestId, messageId, stackId: uid('st'), epoch: position.epoch, assistantId: 'echo' };
  }

  /** A turn that the connection holds, with an open message: for agents. */
  async running(): Promise<Facts> {
    const chatId = await this.person.createChat({ assistantId: 'hostile' });
    const agentId = 'mallory-agent';
    // Again each time: what was sent before may have attached it with anything.
    await this.door.ask('agent:attach', { agentId, assistants: [{ assistantId: 'hostile' }], concurrency: 1000 });
    const { turn, attempt, stackId } = await this.door.ask<AgentResult<'turn:open'>>('turn:open', {
      chatId,
      assistantId: 'hostile',
    });
    const { requestId } = turn;
    const messageId = uid('m');
    const ops = [{ op: 'send', messageId, type: 'text', props: { content: 'x', rows: [{ text: '' }] } }];
    await this.door.ask('turn:push', { requestId, attempt, stackId, seq: 1, ops });
    return { chatId, requestId, attempt, stackId, messageId, seq: 2, agentId, assistantId: 'hostile' };
  }

  /** Ends the turn, and with it whatever waits for it: an answer that has not come by then is one that never comes. */
  async end({ requestId }: Facts): Promise<void> {
    await this.person.ask('turn:stop', { requestId });
  }

  close(): void {
    this.person.close();
    this.door.close();
  }
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Within what a head may hold: one that is larger is for the bytes below HTTP. */
const MAX_TARGET = 12_000;

/** The request that stands for arguments, as far as they can be said in one (request-as.ts, for what is faulty). */
export function requestOf({ method, path }: Route['http'], written: Written, facts: Facts): Asked {
  const members = written.members();
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const said = (json: string): string => encodeURIComponent(Buffer.from(plainOf(json).slice(0, 20_000)).toString());
  const address = inPath
    .reduce((text, name) => {
      const json = members?.get(name);
      return text.replace(`:${name}`, () => (json === undefined ? String(facts[name] ?? 'none') : said(json)));
    }, path)
    .slice(0, MAX_TARGET);
  if (method !== 'get' && method !== 'delete') return withJson(method, address, written.textWithout(inPath));
  const query = [...(members ?? [['limit', written.text] as const])].flatMap(([name, json]) =>
    inPath.includes(name) ? [] : [`${said(JSON.stringify(name === 'messageIds' ? 'ids' : name))}=${said(json)}`],
  );
  const target = `${address}?${query.join('&')}`.slice(0, MAX_TARGET);
  return method === 'get' ? { method, path: target } : withJson(method, target, written.textWithout(inPath));
}

const withJson = (method: string, path: string, body: string): Asked => ({
  method,
  path,
  body,
  headers: { 'content-type': 'application/json' },
});

/** A text as it stands, anything else as JSON. */
function plainOf(json: string): string {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}

/** What the routes of the table answer with, and what a stream does. */
const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

interface Route {
  readonly args: z.ZodType;
  readonly http: Pick<HttpBinding<never>, 'method' | 'path'>;
  /** Of its success. */
  readonly type: string;
}

export const routesOf = (table: Readonly<Record<string, CommandSpec>>): Route[] =>
  Object.values(table).flatMap(({ http, args }) => (http ? [{ args, http, type: JSON_TYPE }] : []));

/** The routes that the server describes beside those of the table; of their arguments only the names are taken. */
export async function routesBeside(url: string, routes: readonly Route[]): Promise<Route[]> {
  type Operation = { parameters?: { name: string }[]; responses: Record<string, { content?: object }> };
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const known = new Set(routes.map(({ http }) => `${http.method} ${http.path}`));
  const all = Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], responses }]): Route => {
      const names = parameters.map(({ name }) => [name, z.unknown()] as const);
      return {
        args: z.object(Object.fromEntries(names)),
        http: { method: method as 'get', path: template.replace(/\{(\w+)\}/g, ':$1') },
        type: Object.keys(responses['200']?.content ?? {})[0] ?? JSON_TYPE,
      };
    }),
  );
  return all.filter(({ http }) => !known.has(`${http.method} ${http.path}`));
}

const keepAlive = new KeepAlive({ keepAlive: true, maxSockets: 8 });

/** Sends it, and fails where the answer is none that this server may give. */
export async function expectAnswer(
  url: string,
  { method, path, headers, body }: Asked,
  successType = JSON_TYPE,
): Promise<void> {
  const what = `${method} ${path.slice(0, 200)} ${body?.toString('latin1').slice(0, 300) ?? ''}`;
  const { status, type, text } = await new Promise<{ status: number; type: string; text: string }>(
    (resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        method: method.toUpperCase(),
        agent: keepAlive,
        headers: { ...headersOf(MALLORY), ...length, ...headers },
      };
      const { protocol, host } = new URL(url);
      // The path as it is: no URL is made of it, which would mend it.
      const request = httpRequest(
        { ...options, host: host.split(':')[0], port: host.split(':')[1], protocol, path },
        (response) => {
          const type = response.headers['content-type'] ?? '';
          const done = (text: string) => resolve({ status: response.statusCode ?? 0, type, text });
          // A stream has no end of its own.
          if (type.startsWith(STREAM_TYPE)) {
            response.destroy();
            return done('{}');
          }
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => done(Buffer.concat(chunks).toString()));
        },
      );
      request.setTimeout(10_000, () => request.destroy(new Error(`no answer to ${what}`)));
      request.on('error', (error) => reject(new Error(`${error.message}: ${what}`)));
      request.end(body);
    },
  );
  expect(status, what).toBeLessThan(500);
  expect(status, what).toBeGreaterThanOrEqual(200);
  // There is nothing to follow.
  if (status === 204) return expect(text, what).toBe('');
  const isRefused = status >= 400;
  expect(type.split(';')[0], what).toBe(isRefused ? JSON_TYPE : successType);
  if (!isRefused && successType !== JSON_TYPE) return;
  const said = JSON.parse(text) as { error?: ErrorBody };
  if (!isRefused) return;
  expectRefusal(said.error as ErrorBody, what);
  expect(ERRORS[(said.error as ErrorBody).code].status, what).toBe(status);
}

const PROBE = 987_654;

/** A WebSocket that is sent frames as they are; afterwards it is closed, or it is served as if nothing had been. */
export async function expectServedOrClosed(url: string, { joins, isPatient }: Greeting, frames: Frames): Promise<void> {
  const raw = await RawSocket.open(url, null);
  for (const join of joins) raw.send(join);
  const hellos = (): number => raw.packets.filter((packet) => packet.includes('["hello"')).length;
  if (isPatient) await until(() => hellos() === joins.length, 'hello');
  for (const [frame, times] of frames)
    for (let count = 0; count < times && raw.closed === null; count++) raw.send(frame);
  const namespace = joins[0]?.startsWith('40/agents') ? '/agents,' : '';
  // Whoever has not joined does so now: joining twice would be an offence of its own.
  raw.send(joins.length === 0 ? '40{}' : `42${namespace}${PROBE}["chat:get",{}]`);
  const isAnswer = (packet: string): boolean =>
    joins.length === 0 ? /^[04]/.test(packet) : packet.startsWith(`3${namespace}${PROBE}[`);
  try {
    await until(
      () => raw.closed !== null || raw.packets.some(isAnswer),
      `an end or an answer after ${described(frames)}`,
    );
  } finally {
    raw.ws.terminate();
  }
}

const described = (frames: Frames): string =>
  frames
    .map(([frame, times]) => `${times} × ${JSON.stringify(Buffer.from(frame).toString()).slice(0, 300)}`)
    .join('; ');

/** A TCP connection that says all of it and then no more: whatever it was, the server answers what it can and lets it go. */
export async function expectLetGo(url: string, { bytes, isAwaited }: Connection): Promise<void> {
  const { hostname, port } = new URL(url);
  const what = JSON.stringify(bytes.toString('latin1')).slice(0, 1000);
  let received = '';
  let isClosed = false;
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: false });
  socket.on('error', () => undefined);
  socket.on('close', () => (isClosed = true));
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  if (isAwaited) socket.end(bytes);
  // Gone as soon as it has left: whatever the server would say, nobody is there.
  else socket.write(bytes, () => socket.resetAndDestroy());
  await until(() => isClosed, `the end of the connection after ${what}`);
  for (const [, status] of received.matchAll(/^HTTP\/1\.1 (\d+) /gm)) expect(Number(status), what).toBeLessThan(500);
  expect(received, what).not.toMatch(/node_modules|\.js:\d+|<pre>/);
}
