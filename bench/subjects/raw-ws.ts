import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { answerCommands, subjectOptions } from './child.js';
import { appended } from './appended.js';
import { publishing, watchSockets } from './pace.js';

/** No protocol at all: one buffer, and a loop of `ws.send`; or a ready frame to each TCP socket, which is the ceiling. */

const { isReadyFrame = false } = subjectOptions<{ isReadyFrame?: boolean }>();

const rooms = new Map<string, Set<WebSocket>>();
const http = createServer();
const server = new WebSocketServer({ server: http, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const chat = new URL(request.url ?? '/', 'http://bench').searchParams.get('chat');
  if (chat === null) return;
  const room = rooms.get(chat) ?? new Set();
  rooms.set(chat, room.add(socket));
  socket.on('error', () => socket.terminate());
  socket.on('close', () => room.delete(socket));
});

const bodyOf = (chatId: string, text: string): Buffer =>
  Buffer.from(JSON.stringify(['events', [appended(chatId, text)]]));

function send(chatId: string, text: string): void {
  const body = bodyOf(chatId, text);
  for (const socket of rooms.get(chatId) ?? []) {
    if (socket.readyState === WebSocket.OPEN) socket.send(body, { binary: false });
  }
}

function sendReadyFrame(chatId: string, text: string): void {
  const body = bodyOf(chatId, text);
  if (body.length < 126 || body.length > 65_535)
    throw new Error('only frames with a length of two bytes are made here');
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame[0] = 0x81;
  frame[1] = 126;
  frame.writeUInt16BE(body.length, 2);
  body.copy(frame, 4);
  for (const socket of rooms.get(chatId) ?? []) (socket as unknown as { _socket: Socket })._socket.write(frame);
}

watchSockets();
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', 4096, resolve));

answerCommands((http.address() as AddressInfo).port, {
  ...publishing((chatId) => (text) => (isReadyFrame ? sendReadyFrame : send)(chatId, text)),
});
