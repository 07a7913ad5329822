import type { Socket } from 'socket.io';
import type { Goaway } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { tcpOf } from './tcp-of.js';

/** How long a peer that does not read keeps its connection after it was told to go (CON-6). */
const PATIENCE_MS = 2000;

/** Says why, closes, and does not wait for a peer that does not read. */
export function sayGoaway(socket: Socket, body: Goaway, clock: Clock): void {
  const tcp = tcpOf(socket.conn);
  socket.emit('goaway', body);
  socket.disconnect(true);
  const timer = clock.after(PATIENCE_MS, () => tcp?.destroy());
  tcp?.once('close', () => timer.cancel());
}
