import type { Socket as TcpSocket } from 'node:net';
import type { Socket } from 'socket.io';

/** What of an Engine.IO WebSocket transport we reach into (engine.io 6.6, ws 8, socket.io 4.8): nothing of it is promised to us. */
interface WebSocketTransport {
  readonly name: string;
  readonly writable: boolean;
  readonly socket?: { readonly _socket?: TcpSocket | null };
  once(event: 'ready', listener: () => void): unknown;
}

export type EngineConnection = Socket['conn'];

export const transportOf = (connection: EngineConnection): WebSocketTransport => connection.transport;

/** The TCP socket under a WebSocket connection; undefined for long-polling, or where a new version hides it. */
export function tcpOf(connection: EngineConnection): TcpSocket | undefined {
  const transport = transportOf(connection);
  if (transport.name !== 'websocket') return undefined;
  const tcp = transport.socket?._socket;
  return tcp && typeof tcp.write === 'function' && typeof tcp.writableLength === 'number' ? tcp : undefined;
}

/**
 * Calls back with the list that an event becomes, as soon as its last frame is decoded; handlers get the same list later.
 *
 * @returns ends it
 */
export function onDecoded(socket: Socket, callback: (event: object) => void): () => void {
  type Listener = (packet: { data?: unknown }) => void;
  const { decoder } = socket.client as unknown as {
    decoder: { on(event: 'decoded', listener: Listener): void; off(event: 'decoded', listener: Listener): void };
  };
  const listener: Listener = ({ data }) => {
    if (Array.isArray(data)) callback(data);
  };
  decoder.on('decoded', listener);
  return () => decoder.off('decoded', listener);
}

/** How far a socket has come: bytes that the kernel has taken so far, and those that wait behind the write under way. */
export function progressOf(tcp: TcpSocket): { taken: number; behind: number } {
  const inner = tcp as unknown as {
    _handle?: { writeQueueSize?: number } | null;
    _writableState?: { writelen?: number };
  };
  const underWay = inner._writableState?.writelen ?? 0;
  const behind = Math.max(0, tcp.writableLength - underWay);
  return { taken: tcp.bytesWritten - behind - (inner._handle?.writeQueueSize ?? underWay), behind };
}
