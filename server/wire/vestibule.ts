import type { EngineConnection } from './tcp-of.js';
import { tcpOf } from './tcp-of.js';

/** The head of the handshake and a token fit in; a flood of bytes from somebody unknown does not. */
const MAX_BYTES = 64 * 1024;

/**
 * Sockets of whom nobody knows yet who they are: so many of one address, and each may send so much. How long one may
 * stay here is Socket.IO's `connectTimeout`. From here they come into namespaces; one that has left them all is closed,
 * since it would be counted nowhere.
 */
export class Vestibule {
  readonly #counts = new Map<string, number>();
  readonly #leave = new WeakMap<EngineConnection, () => void>();
  /** In how many namespaces a connection is. */
  readonly #joined = new WeakMap<EngineConnection, number>();

  constructor(private readonly maxPerAddress: number) {}

  hasRoom(address: string): boolean {
    return (this.#counts.get(address) ?? 0) < this.maxPerAddress;
  }

  enter(connection: EngineConnection, address: string): void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    const tcp = tcpOf(connection);
    let bytes = 0;
    // Long-polling shows no socket of its own: its packets are counted when they are whole.
    const read = ({ length }: { readonly length: number }): void => {
      bytes += length;
      if (bytes > MAX_BYTES) connection.close(true);
    };
    const packet = ({ data }: { readonly data?: unknown }): void => {
      if (typeof data === 'string' || data instanceof Uint8Array) read(data);
    };
    if (tcp) tcp.on('data', read);
    else connection.on('packet', packet);
    const leave = (): void => {
      if (!this.#leave.delete(connection)) return;
      tcp?.off('data', read);
      connection.off('packet', packet);
      const left = (this.#counts.get(address) ?? 1) - 1;
      if (left === 0) this.#counts.delete(address);
      else this.#counts.set(address, left);
    };
    this.#leave.set(connection, leave);
    connection.once('close', leave);
  }

  /** It is known who it is, in one more namespace. */
  join(connection: EngineConnection): void {
    this.#leave.get(connection)?.();
    this.#joined.set(connection, (this.#joined.get(connection) ?? 0) + 1);
  }

  part(connection: EngineConnection): void {
    const left = (this.#joined.get(connection) ?? 1) - 1;
    this.#joined.set(connection, left);
    if (left === 0) connection.close();
  }
}
