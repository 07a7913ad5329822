import type { Socket } from 'socket.io';
import type { Goaway, GoawayCode } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { tcpOf, type EngineConnection } from './tcp-of.js';

/** How long a peer that does not read keeps its connection after it was told to go (CON-6). */
const PATIENCE_MS = 2000;

/** Whether to come back, and when. */
const AFTERWARDS: Readonly<Record<GoawayCode, Omit<Goaway, 'code'>>> = {
  shutdown: { reconnect: true },
  token_expired: { reconnect: true },
  slow_consumer: { reconnect: true },
  revoked: { reconnect: false },
  replaced: { reconnect: false },
  too_many_connections: { reconnect: true, retryAfterMs: 1000 },
};

/** Says that the connection is about to be closed, and why. */
export function warnGoaway(socket: Socket, code: GoawayCode, retryAfterMs?: number): void {
  const later = retryAfterMs === undefined ? {} : { retryAfterMs };
  socket.emit('goaway', { code, ...AFTERWARDS[code], ...later } satisfies Goaway);
}

/** Says why, and closes. @param retryAfterMs where it is not the usual time */
export function sayGoaway(socket: Socket, code: GoawayCode, clock: Clock, retryAfterMs?: number): void {
  warnGoaway(socket, code, retryAfterMs);
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
