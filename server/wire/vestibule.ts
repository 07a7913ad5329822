import { ChatError } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { closeConnection } from './goaway.js';
import { tcpOf, type EngineConnection } from './tcp-of.js';

/** A token fits in; a flood of bytes from somebody unknown does not. */
const MAX_BYTES = 64 * 1024;

/**
 * Sockets of whom nobody knows yet who they are: so many of one address, and each may send so much. How long one may
 * stay here is Socket.IO's `connectTimeout`. From here they come into namespaces; one that has left them all is closed,
 * since it would be counted nowhere.
 */
export class Vestibule {
  readonly #counts = new Map<string, number>();
  readonly #leave = new WeakMap<EngineConnection, () => void>();
  /** The namespaces that a connection is in, or is about to join. */
  readonly #namespaces = new WeakMap<EngineConnection, Set<string>>();

  constructor(
    private readonly maxPerAddress: number,
    private readonly clock: Clock,
  ) {}

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

  /**
   * It asks to join a namespace. Socket.IO itself lets one connection join as often as it asks before the first time is
   * through, and each would be a person.
   *
   * @throws {ChatError} `conflict` where it is in there, or has asked already
   */
  ask(connection: EngineConnection, namespace: string): void {
    const namespaces = this.#namespaces.get(connection) ?? new Set();
    if (namespaces.has(namespace)) throw new ChatError('conflict', 'This connection is in the namespace already.');
    this.#namespaces.set(connection, namespaces.add(namespace));
  }

  /** It may not join. One that is here stays, and may ask again. */
  refuse(connection: EngineConnection, namespace: string): void {
    this.#namespaces.get(connection)?.delete(namespace);
    if (!this.#leave.has(connection)) this.#closeIfNowhere(connection);
  }

  /** It is known who it is. */
  join(connection: EngineConnection): void {
    this.#leave.get(connection)?.();
  }

  part(connection: EngineConnection, namespace: string): void {
    this.#namespaces.get(connection)?.delete(namespace);
    this.#closeIfNowhere(connection);
  }

  #closeIfNowhere(connection: EngineConnection): void {
    if (this.#namespaces.get(connection)?.size === 0) closeConnection(connection, this.clock);
  }
}
