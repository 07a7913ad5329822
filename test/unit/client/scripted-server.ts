import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'socket.io';
import { onTestFinished } from 'vitest';
import { DEFAULT_LIMITS, type ChatError, type Limits } from '../../../protocol/index.js';

/** One client on a scripted server, as far as the server knows it. */
interface Visitor {
  readonly socket: Socket;
  readonly auth: Record<string, unknown>;
  /** The next command of this name that has not been asked for, as soon as it is there. */
  next(command: string): Promise<Received>;
}

interface Received {
  readonly args: Record<string, unknown>;
  ok(data: unknown): void;
  refuse(error: ChatError): void;
}

export interface ScriptedServer {
  readonly url: string;
  /** The next client that gets in. */
  visitor(): Promise<Visitor>;
  /** How many have tried to get in. */
  readonly attempts: number;
  /** Decides who gets in. Default: everybody. */
  admit: (auth: Record<string, unknown>) => ChatError | null;
}

/**
 * A real Socket.IO server on a free port that does what the test says, and says hello by itself. The test plays the
 * protocol; the sockets are real.
 */
export async function scriptedServer(limits: Partial<Limits> = {}, namespace = '/'): Promise<ScriptedServer> {
  const http = createServer();
  const io = new Server(http, { transports: ['websocket'], maxHttpBufferSize: 2 * DEFAULT_LIMITS.maxFrameBytes });
  const visitors = queue<Visitor>();
  const server = {
    url: '',
    visitor: () => visitors.next(),
    attempts: 0,
    admit: (_auth: Record<string, unknown>): ChatError | null => null,
  };
  io.of(namespace).use((socket, next) => {
    server.attempts++;
    const refusal = server.admit(socket.handshake.auth);
    next(refusal ? Object.assign(new Error(refusal.message), { data: refusal.body() }) : undefined);
  });
  io.of(namespace).on('connection', (socket) => {
    visitors.add(visitorOf(socket));
    socket.emit('hello', {
      protocol: 1,
      serverVersion: 'scripted',
      connectionId: socket.id,
      user: { userId: 'ada', teamId: null, tenantId: null, roles: ['user', 'agent'] },
      limits: { ...DEFAULT_LIMITS, ...limits },
      assistants: [],
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  onTestFinished(() => io.close());
  return server;
}

function visitorOf(socket: Socket): Visitor {
  const commands = new Map<string, Queue<Received>>();
  const of = (command: string): Queue<Received> => {
    const known = commands.get(command) ?? queue<Received>();
    commands.set(command, known);
    return known;
  };
  socket.onAny((command: string, args: Record<string, unknown>, ack: (answer: unknown) => void) =>
    of(command).add({
      args,
      ok: (data) => ack({ ok: true, data }),
      refuse: (error) => ack({ ok: false, error: error.body() }),
    }),
  );
  return { socket, auth: socket.handshake.auth, next: (command) => of(command).next() };
}

interface Queue<T> {
  add(item: T): void;
  next(): Promise<T>;
}

/** What comes waits for who asks, and who asks waits for what comes. */
function queue<T>(): Queue<T> {
  const items: T[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    add(item) {
      const first = waiting.shift();
      if (first) first(item);
      else items.push(item);
    },
    next: () =>
      new Promise((resolve) => {
        const first = items.shift();
        if (first) resolve(first);
        else waiting.push(resolve);
      }),
  };
}
