import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Server, type Namespace, type Socket } from 'socket.io';
import { AGENT_NAMESPACE, ChatError, PROTOCOL_VERSION } from '../../protocol/index.js';
import type { Timer } from '../clock.js';
import type { Identity } from '../session/identity.js';
import { AgentSocket, mustBeAgent } from './agent-socket.js';
import type { Provenance } from './caller.js';
import { asChatError } from './as-chat-error.js';
import { sayGoaway } from './goaway.js';
import { askerOf } from './http/origins.js';
import { PeopleSocket } from './people-socket.js';
import type { EngineConnection } from './tcp-of.js';
import type { SocketNeeds } from './socket-needs.js';
import { Vestibule } from './vestibule.js';

export interface SocketServer {
  /** What waits for connections that do not read, for `turnstream_outbox_bytes`. */
  readonly outboxBytes: number;
  /** Tells every connection to go, and when to come back, and closes (LIF-1). */
  shutDown(): void;
  close(): void;
}

const OUTBOX_CHECK_MS = 1000;
/**
 * Thousands that come back in the same moment would find the nodes that are left, or this server anew, busy with nothing else
 * (docs/scaling.md): one comes a millisecond after the other, all within this time, and their own jitter is on top.
 */
const SPREAD_MS = 10_000;
const SOONEST_MS = 1000;
/** A connection that has not joined a namespace by then is closed: half-open handshakes cost nothing. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Both namespaces on one HTTP server (CON-1, CON-3). */
export function createSocketServer(http: HttpServer, needs: SocketNeeds): SocketServer {
  const { limits, allowPolling, origins, clock, addressOf } = needs;
  const vestibule = new Vestibule(needs.maxHandshakesPerAddress, clock);
  const io = new Server(http, {
    serveClient: false,
    transports: allowPolling ? ['websocket', 'polling'] : ['websocket'],
    perMessageDeflate: false,
    httpCompression: false,
    // Its own way to close what is no handshake leaves the other side's half open, for as long as that likes.
    destroyUpgrade: false,
    // A frame up to twice the bound is answered with an error, beyond that the connection is closed (DAT-3).
    maxHttpBufferSize: 2 * limits.maxFrameBytes,
    connectTimeout: CONNECT_TIMEOUT_MS,
    allowRequest: (request, decide) => {
      const asker = askerOf(request.headers);
      const hasRoom = !isNew(request) || vestibule.hasRoom(addressOf(request));
      decide(null, hasRoom && origins.answersTo(asker) && origins.admits(asker));
    },
    cors: {
      origin: (origin, decide) => decide(null, origin !== undefined && origins.allows(origin)),
      credentials: true,
    },
  });

  io.engine.on('connection', (connection: EngineConnection) =>
    vestibule.enter(connection, addressOf(connection.request)),
  );

  const people = new Set<PeopleSocket>();
  const agents = new Set<AgentSocket>();

  serve(io.of('/'), needs, vestibule, 'people', (socket, identity, from) => {
    const connection = new PeopleSocket(socket, identity, from, needs);
    people.add(connection);
    socket.on('disconnect', () => people.delete(connection));
  });
  serve(io.of(AGENT_NAMESPACE), needs, vestibule, 'agents', (socket, identity, from) => {
    const connection = new AgentSocket(socket, identity, from, needs);
    agents.add(connection);
    socket.on('disconnect', () => agents.delete(connection));
  });

  let checker: Timer;
  const check = (): void => {
    for (const { outbox } of [...people, ...agents]) outbox.check();
    checker = clock.after(OUTBOX_CHECK_MS, check);
  };
  checker = clock.after(OUTBOX_CHECK_MS, check);

  return {
    get outboxBytes() {
      return [...people, ...agents].reduce((bytes, { outbox }) => bytes + outbox.bytes, 0);
    },
    shutDown() {
      for (const [index, connection] of [...people, ...agents].entries())
        connection.goaway('shutdown', SOONEST_MS + (index % SPREAD_MS));
    },
    close() {
      checker.cancel();
      io.engine.close();
    },
  };
}

/** Long-polling asks again and again on one connection, which it names. */
const isNew = ({ url = '' }: IncomingMessage): boolean => !new URLSearchParams(url.split('?')[1] ?? '').get('sid');

/** Authenticates, counts, then hands over: everything a client sends from the first moment finds its handler (C09). */
function serve(
  namespace: Namespace,
  needs: SocketNeeds,
  vestibule: Vestibule,
  name: 'people' | 'agents',
  begin: (socket: Socket, identity: Identity, from: Provenance) => void,
): void {
  const { metrics, connectionLimit, revocations, clock, log } = needs;
  namespace.use((socket, next) => {
    const refuse = (thrown: unknown): void => {
      const error = asChatError(thrown, log, { namespace: name });
      next(Object.assign(new Error(error.code), { data: error.body() }));
    };
    try {
      vestibule.ask(socket.conn, name);
    } catch (error) {
      return refuse(error);
    }
    admit(socket, needs, name).then(
      () => next(),
      (error: unknown) => {
        vestibule.refuse(socket.conn, name);
        refuse(error);
      },
    );
  });
  namespace.on('connection', (socket) => {
    const { identity, from } = socket.data as Admitted;
    vestibule.join(socket.conn);
    if (revocations.covers(identity)) return sayGoaway(socket, 'revoked', clock);
    let release: () => void;
    try {
      release = connectionLimit.take(identity);
    } catch {
      sayGoaway(socket, 'too_many_connections', clock);
      return;
    }
    metrics.connections.inc({ namespace: name });
    const ids = { connectionId: socket.id, namespace: name, userId: identity.userId };
    log.info(ids, 'connected');
    socket.on('disconnect', (reason) => {
      log.info({ ...ids, reason }, 'disconnected');
      release();
      metrics.connections.dec({ namespace: name });
      vestibule.part(socket.conn, name);
    });
    begin(socket, identity, from);
  });
}

/** What is known of a socket that was let in. */
interface Admitted {
  readonly identity: Identity;
  readonly from: Provenance;
}

/** @throws {ChatError} what `connect_error.data` says (CON-1) */
async function admit(
  socket: Socket,
  { admission, connectionLimit, addressOf }: SocketNeeds,
  name: 'people' | 'agents',
): Promise<void> {
  const { token, protocol, ...claims } = socket.handshake.auth as Record<string, unknown>;
  if (protocol !== undefined && protocol !== PROTOCOL_VERSION)
    throw new ChatError('unsupported', `This server speaks protocol ${PROTOCOL_VERSION}.`);
  const from = { address: addressOf(socket.request), connectionId: socket.id };
  const identity = await admission.admit(from, { ...(typeof token === 'string' ? { token } : {}), claims });
  if (name === 'agents') mustBeAgent(identity);
  connectionLimit.take(identity)();
  Object.assign(socket.data as Partial<Admitted>, { identity, from });
}
