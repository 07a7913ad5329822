import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { answerCommands } from './child.js';
import { appended } from './appended.js';
import { publishing, watchSockets } from './pace.js';

/** Socket.IO as its documentation shows it: rooms, `io.to(room).emit`. It stores, numbers and replays nothing. */

const http = createServer();
const io = new Server(http, { serveClient: false, transports: ['websocket'], perMessageDeflate: false });
io.on('connection', (socket) => {
  const { chat } = socket.handshake.query;
  if (typeof chat === 'string') void socket.join(chat);
  socket.on('turn:start', ({ chatId, input }: { chatId: string; input: string }, ack: (answer: unknown) => void) => {
    ack({ ok: true });
    for (const word of input.match(/\s*\S+/g) ?? []) io.to(chatId).emit('events', [appended(chatId, word)]);
    io.to(chatId).emit('events', [{ ...appended(chatId, ''), type: 'turn.ended' }]);
  });
});

watchSockets();
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', 4096, resolve));

answerCommands((http.address() as AddressInfo).port, {
  ...publishing((chatId) => (text) => void io.to(chatId).emit('events', [appended(chatId, text)])),
});
