import { type ChatError, tooLarge, type Ack } from '../../protocol/index.js';
import type { EngineConnection } from './tcp-of.js';

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
 * Knows the size of the frame that is being read (DAT-3): handlers run while the engine reads it, so that the last size
 * is theirs.
 */
export class FrameSize {
  #bytes = 0;

  constructor(
    connection: EngineConnection,
    private readonly maxBytes: number,
  ) {
    connection.on('packet', ({ data }: { data?: unknown }) => {
      this.#bytes = typeof data === 'string' ? Buffer.byteLength(data) : 0;
    });
  }

  /** @throws {ChatError} `payload_too_large` */
  check(): void {
    if (this.#bytes > this.maxBytes) throw tooLarge('maxFrameBytes', this.maxBytes);
  }
}
