import { io } from 'socket.io-client';
import type { ChatError } from '../protocol/index.js';
import { errorFrom, unreachable } from './local-error.js';
import type { Link, Transport } from './transport.js';

export interface SocketTransportOptions {
  /** Where the server listens: `https://chat.example`, without a path. */
  readonly url: string;
  /** Socket.IO namespace: `/` for people, `/agents` for agents. Default `/`. */
  readonly namespace?: string;
  /** Path of Socket.IO on the server. Default `/socket.io`. */
  readonly path?: string;
}

/**
 * Socket.IO over WebSocket, one connection at a time. Its own reconnection is off: when to come back, with which token
 * and from where is decided above (C30, C55: no long-polling, so no sticky routing is needed).
 */
export function createSocketTransport({
  url,
  namespace = '/',
  path = '/socket.io',
}: SocketTransportOptions): Transport {
  const address = url.replace(/\/+$/, '') + namespace;
  return {
    open(handshake, listener): Link {
      const socket = io(address, {
        path,
        auth: { ...handshake },
        transports: ['websocket'],
        upgrade: false,
        forceNew: true,
        reconnection: false,
        autoConnect: false,
        // The caller has its own limit on the time that connecting takes.
        timeout: false as unknown as number,
      });
      let state: 'connecting' | 'open' | 'done' = 'connecting';
      const refuse = (error: ChatError): void => {
        if (state !== 'connecting') return;
        state = 'done';
        socket.disconnect();
        listener.refused(error);
      };

      socket.on('connect', () => {
        if (state !== 'connecting') return;
        state = 'open';
        listener.opened();
      });
      socket.on('connect_error', (error: Error & { data?: unknown }) => {
        refuse(error.data === undefined ? unreachable(error.message, error) : errorFrom(error.data));
      });
      socket.on('disconnect', (reason) => {
        if (state !== 'open') return refuse(unreachable(reason));
        state = 'done';
        listener.closed(reason);
      });
      socket.onAny((event: string, ...args: unknown[]) => {
        if (state !== 'open') return;
        const last = args.at(-1);
        const reply = typeof last === 'function' ? (last as (answer: unknown) => void) : null;
        listener.received(event, args[0] === last && reply ? undefined : args[0], reply);
      });
      socket.connect();
      // Socket.IO does not hear of an engine that closes before its handshake is through, and would wait for ever.
      const { engine } = socket.io;
      const lost = (reason: string): void => refuse(unreachable(reason));
      engine.on('close', lost);
      engine.on('open', () => engine.off('close', lost));

      return {
        send(command, args, acked) {
          if (state === 'open') socket.emit(command, args, acked);
        },
        close() {
          state = 'done';
          socket.disconnect();
        },
      };
    },
  };
}
