import { createServer, maxHeaderSize, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { ChatError, ERRORS, tooLarge } from '../../../protocol/index.js';

/** Half-open handshakes and slow writers: a head has to be here by then, and a whole request. Looked at every second. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const LOOK_MS = 1_000;
/** Slow readers of an answer: a connection on which nothing moves for so long while a request is under way is closed. */
const IDLE_MS = 30_000;
/** Who is refused has so long to take the answer. */
const REFUSED_MS = 2_000;
/** Requests of one connection that may be under way: browsers send one at a time, and each answer may hold a page. */
const MAX_UNDER_WAY = 8;
/** Longer than the 60 s after which most balancers drop an idle connection: who keeps it longer never meets a closed one. */
const KEEP_ALIVE_MS = 75_000;

/**
 * The server that HTTP and sockets share, not listening yet. It answers as JSON, too, what Node would refuse before any
 * request exists, with an empty body: bytes that are no HTTP, headers beyond Node's bound, a missing Host, an expectation
 * that nobody knows (C53).
 *
 * @param maxConnections more are closed before a word is said
 * @param slowestMs the longest time that an answer may take to come
 */
export function createHttpServer(
  handle: RequestListener,
  { maxConnections, slowestMs }: { readonly maxConnections: number; readonly slowestMs: number },
): Server {
  const answer = fewAtATime(handle);
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: LOOK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false,
    },
    answer,
  );
  server.timeout = IDLE_MS + slowestMs;
  server.maxConnections = maxConnections;
  server.on('clientError', answerClientError);
  server.on('checkExpectation', answer);
  server.on('upgrade', (request, socket) => {
    if (!isSocketIo(request)) refuse(socket as Socket, new ChatError('not_found'));
  });
  return server;
}

/** What Engine.IO answers itself. */
const isSocketIo = ({ url = '' }: IncomingMessage): boolean => url.startsWith('/socket.io/');

/** Who asks again and again and reads no answer is cut off, before the answers fill the memory. */
function fewAtATime(handle: RequestListener): RequestListener {
  const underWay = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const count = (underWay.get(socket) ?? 0) + 1;
    if (count > MAX_UNDER_WAY) {
      socket.destroy();
      return;
    }
    underWay.set(socket, count);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    handle(request, response);
  };
}

/**
 * Once anything was sent on the connection it is only closed: a second answer in the middle of a first would be taken for
 * part of it.
 */
function answerClientError(fault: NodeJS.ErrnoException, socket: Socket): void {
  if (fault.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const error =
    fault.code === 'HPE_HEADER_OVERFLOW'
      ? tooLarge('maxHeaderBytes', maxHeaderSize)
      : new ChatError('bad_request', 'This is no HTTP request.');
  refuse(socket, error);
}

/** Answers and closes, whatever the other side does. */
function refuse(socket: Socket, error: ChatError): void {
  const body = JSON.stringify({ error: error.body() });
  const head = [
    `HTTP/1.1 ${ERRORS[error.code].status} Refused`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.setTimeout(REFUSED_MS, () => socket.destroy());
  socket.end([...head, '', body].join('\r\n'), () => socket.destroy());
}
