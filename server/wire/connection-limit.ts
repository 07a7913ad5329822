import { ChatError } from '../../protocol/index.js';
import { userKey, type Identity } from '../session/identity.js';

/** Open connections of each user, over both namespaces. */
export class ConnectionLimit {
  readonly #counts = new Map<string, number>();

  constructor(private readonly maxPerUser: number) {}

  /** Counts a connection; call the result once it is closed. @throws {ChatError} `too_many_connections` */
  take(identity: Identity): () => void {
    const key = userKey(identity);
    const held = this.#counts.get(key) ?? 0;
    if (held >= this.maxPerUser) {
      throw new ChatError('too_many_connections', undefined, {
        retryAfterMs: 1000,
        details: { limit: 'maxConnectionsPerUser', max: this.maxPerUser },
      });
    }
    this.#counts.set(key, held + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}
