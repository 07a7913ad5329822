import type { Socket } from 'socket.io';
import { type ChatError, tooLarge, type Ack } from '../../protocol/index.js';
import { onDecoded } from './tcp-of.js';

/** A command as a socket brings it. */
export interface SocketCommand {
  readonly name: string;
  readonly args: unknown;
  /** Answers, at most once; does nothing where the caller wants no answer (CON-4). */
  readonly ack: (answer: Ack<unknown>) => void;
}

/** Reads a Socket.IO event: `[name, args?, ack?]`, whatever else a client may have put there. */
export function socketCommand(event: readonly unknown[]): SocketCommand {
  const [name, ...rest] = event;
  const last = rest.at(-1);
  const acknowledge = typeof last === 'function' ? (last as (answer: Ack<unknown>) => void) : undefined;
  const args = typeof rest[0] === 'function' ? undefined : rest[0];
  return { name: String(name), args, ack: (answer) => acknowledge?.(answer) };
}

export const refusal = (error: ChatError): Ack<never> => ({ ok: false, error: error.body() });

/**
 * Knows how large the frame of an event was, with its attachments (DAT-3). Several frames may be decoded before the first
 * of them comes to its handler, so that each size is kept with its event.
 */
export class FrameSize {
  readonly #bytesOf = new WeakMap<object, number>();

  constructor(
    socket: Socket,
    private readonly maxBytes: number,
  ) {
    let bytes = 0;
    const measure = ({ data }: { data?: unknown }): void => {
      if (typeof data === 'string') bytes = Buffer.byteLength(data);
      else if (data instanceof Uint8Array) bytes += data.byteLength;
    };
    const { conn } = socket;
    conn.on('packet', measure);
    const stop = onDecoded(socket, (event) => this.#bytesOf.set(event, bytes));
    // A client may leave a namespace and join it again, on one connection, as often as it likes.
    socket.on('disconnect', () => {
      conn.off('packet', measure);
      stop();
    });
  }

  of(event: readonly unknown[]): number {
    return this.#bytesOf.get(event) ?? 0;
  }

  /** @throws {ChatError} `payload_too_large` */
  check(event: readonly unknown[]): void {
    if (this.of(event) > this.maxBytes) throw tooLarge('maxFrameBytes', this.maxBytes);
  }
}
