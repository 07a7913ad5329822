import type { Socket } from 'socket.io';
import { ChatError, tooLarge, type Ack } from '../../protocol/index.js';
import type { Clock, Timer } from '../clock.js';
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

export const noSuchCommand = (): ChatError =>
  new ChatError('bad_request', 'There is no such command.', { details: { path: 'command' } });

export const refusal = (error: ChatError): Ack<never> => ({ ok: false, error: error.body() });

/** How long the attachments of an event may take to come. */
const ATTACHMENTS_MS = 10_000;
/** BINARY_EVENT and BINARY_ACK, which their attachments follow in frames of their own. */
const HAS_ATTACHMENTS = /^[56][1-9]/;

/**
 * Knows how large the frame of an event was, with its attachments (DAT-3). Several frames may be decoded before the first
 * of them comes to its handler, so that each size is kept with its event. An event that is not whole in time, or grows
 * beyond twice the bound before it is, ends its connection.
 */
export class FrameSize {
  readonly #bytesOf = new WeakMap<object, number>();
  #unfinished: Timer | null = null;

  constructor(
    socket: Socket,
    private readonly maxBytes: number,
    clock: Clock,
  ) {
    const { conn } = socket;
    let bytes = 0;
    const measure = ({ data }: { data?: unknown }): void => {
      if (typeof data === 'string') {
        bytes = Buffer.byteLength(data);
        if (HAS_ATTACHMENTS.test(data)) this.#unfinished ??= clock.after(ATTACHMENTS_MS, () => conn.close(true));
      } else if (data instanceof Uint8Array) {
        bytes += data.byteLength;
        if (bytes > 2 * this.maxBytes) conn.close(true);
      }
    };
    conn.on('packet', measure);
    const stop = onDecoded(socket, (event) => {
      this.#finished();
      this.#bytesOf.set(event, bytes);
    });
    socket.on('disconnect', () => {
      conn.off('packet', measure);
      this.#finished();
      stop();
    });
  }

  of(event: readonly unknown[]): number {
    return this.#bytesOf.get(event) ?? 0;
  }

  /** @throws {ChatError} `payload_too_large` */
  mustFit(bytes: number): void {
    if (bytes > this.maxBytes) throw tooLarge('maxFrameBytes', this.maxBytes);
  }

  #finished(): void {
    this.#unfinished?.cancel();
    this.#unfinished = null;
  }
}
