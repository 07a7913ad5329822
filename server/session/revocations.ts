import { ChatError, type Args } from '../../protocol/index.js';
import { isoNow, type Clock } from '../clock.js';
import type { Revocation, Store } from '../ports/store.js';
import { userKey, type Identity } from './identity.js';

/** A connection that stands on an identity, which may change while it does. */
export interface Revocable {
  readonly identity: Identity;
  /** Its identity was revoked: it has to go. Called once; does not throw. */
  revoked(): void;
}

const tokenKey = ({ tenantId }: Pick<Identity, 'tenantId'>, tokenId: string): string =>
  JSON.stringify([tenantId, tokenId]);

/**
 * Who was shut out of their tenant, and the live connections that such a word ends. Revocations are stored: a restart
 * lets nobody in again. They are kept in memory too, since every connection and request is held against them.
 *
 * - a token by its `jti`: for ever
 * - a user: every token issued up to that moment, so that one who is let in again needs but a new token. A token that
 *   does not say when it was issued is older than any revocation. Issuers whose clocks may be off
 *   (AUTH_CLOCK_TOLERANCE_MS) have issued it that much earlier, in case of doubt.
 */
export class Revocations {
  readonly #tokens = new Set<string>();
  /** Milliseconds since 1970. */
  readonly #users = new Map<string, number>();
  readonly #watched = new Set<Revocable>();

  private constructor(
    private readonly store: Pick<Store, 'saveRevocation' | 'listRevocations'>,
    private readonly clock: Clock,
  ) {}

  static async load(store: Pick<Store, 'saveRevocation' | 'listRevocations'>, clock: Clock): Promise<Revocations> {
    const revocations = new Revocations(store, clock);
    await revocations.reload();
    return revocations;
  }

  /**
   * Learns what was revoked elsewhere (LIF-4), and ends those whom it concerns.
   * @returns how many connections of this process it ends
   * @throws {ChatError} `storage_unavailable`
   */
  async reload(): Promise<number> {
    for (const revocation of await this.store.listRevocations()) this.#note(revocation);
    return this.#end((connection) => this.covers(connection.identity));
  }

  /** Whether the identity is of a token that was revoked. One that needs no token cannot be. */
  covers(identity: Identity): boolean {
    const { token } = identity;
    if (token === null) return false;
    if (token.tokenId !== null && this.#tokens.has(tokenKey(identity, token.tokenId))) return true;
    const revokedAt = this.#users.get(userKey(identity));
    return revokedAt !== undefined && (token.issuedAt ?? -Infinity) <= revokedAt;
  }

  /** @throws {ChatError} `unauthenticated` */
  mustStand(identity: Identity): void {
    if (this.covers(identity)) throw new ChatError('unauthenticated', 'This token was revoked.');
  }

  /** Ends the connection when its identity is revoked. @returns lets go of it */
  watch(connection: Revocable): () => void {
    this.#watched.add(connection);
    return () => void this.#watched.delete(connection);
  }

  /**
   * Shuts out, once it is stored. Running turns go on.
   *
   * @returns how many connections of this process it ends
   */
  async revoke({ tenantId, userId: revokedBy }: Identity, { userId, jti }: Args<'admin:revoke'>): Promise<number> {
    const target = userId === undefined ? { tokenId: jti as string } : { userId };
    const revocation = { tenantId, ...target, revokedBy, revokedAt: isoNow(this.clock) };
    await this.store.saveRevocation(revocation);
    this.#note(revocation);
    return this.#end(({ identity }) => isMeant(identity, revocation));
  }

  #end(isRevoked: (connection: Revocable) => boolean): number {
    const ended = [...this.#watched].filter(isRevoked);
    for (const connection of ended) {
      this.#watched.delete(connection);
      connection.revoked();
    }
    return ended.length;
  }

  #note(revocation: Revocation): void {
    const { tenantId, revokedAt } = revocation;
    if (!('userId' in revocation)) return void this.#tokens.add(tokenKey({ tenantId }, revocation.tokenId));
    const user = userKey({ tenantId, userId: revocation.userId });
    // What is learned may have been read before a later one was stored.
    this.#users.set(user, Math.max(Date.parse(revokedAt), this.#users.get(user) ?? -Infinity));
  }
}

/** A user's connections end all, those without a token too. */
const isMeant = (identity: Identity, revocation: Revocation): boolean =>
  identity.tenantId === revocation.tenantId &&
  ('userId' in revocation ? identity.userId === revocation.userId : identity.token?.tokenId === revocation.tokenId);
