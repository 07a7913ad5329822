import type { Socket } from 'socket.io';
import type { Goaway } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { tcpOf, type EngineConnection } from './tcp-of.js';

/** How long a peer that does not read keeps its connection after it was told to go (CON-6). */
const PATIENCE_MS = 2000;

/** Says why, and closes. */
export function sayGoaway(socket: Socket, body: Goaway, clock: Clock): void {
  socket.emit('goaway', body);
  closeSoon(socket, clock);
}

/** Closes with all its namespaces, and does not wait for a peer that does not read. */
export function closeSoon(socket: Socket, clock: Clock): void {
  endSoon(socket.conn, clock);
  socket.disconnect(true);
}

/** Closes what belongs to nobody, with the same patience. */
export function closeConnection(connection: EngineConnection, clock: Clock): void {
  endSoon(connection, clock);
  connection.close();
}

function endSoon(connection: EngineConnection, clock: Clock): void {
  const tcp = tcpOf(connection);
  const timer = clock.after(PATIENCE_MS, () => tcp?.destroy());
  tcp?.once('close', () => timer.cancel());
}
