import { ChatError } from '../../protocol/index.js';
import { MAX_TIMER_MS, type Clock, type Timer } from '../clock.js';
import type { Revocable, Revocations } from '../session/revocations.js';
import type { Identity } from '../session/identity.js';
import { Mutex } from '../session/mutex.js';
import type { Admission } from './admission.js';
import type { Provenance } from './caller.js';

export interface ConnectionIdentityNeeds {
  readonly admission: Admission;
  readonly revocations: Pick<Revocations, 'watch' | 'mustStand'>;
  readonly clock: Clock;
  readonly authGraceMs: number;
  /** Whether an identity may be here at all. @throws {ChatError} `forbidden` */
  readonly mustFit: (identity: Identity) => void;
}

/** What becomes of an identity, for the connection that stands on it. */
export interface IdentityListener {
  /** It has ended: no command is served, and what is followed waits, until it is renewed. */
  expired(): void;
  /** It was renewed in place; whether that changes what it may do. */
  renewed(isOther: boolean): void | Promise<void>;
  /** It has ended and was not renewed in time. */
  lapsed(): void;
  revoked(): void;
}

/** The identity of a socket over its life (CON-5): it expires, is renewed in place, is revoked. */
export class ConnectionIdentity implements Revocable {
  #timer: Timer | null = null;
  #isExpired = false;
  #isClosed = false;
  readonly #renewals = new Mutex();
  #identity: Identity;
  readonly #unwatch: () => void;

  constructor(
    identity: Identity,
    private readonly from: Provenance,
    private readonly needs: ConnectionIdentityNeeds,
    private readonly listener: IdentityListener,
  ) {
    this.#identity = identity;
    this.#unwatch = needs.revocations.watch(this);
    this.#expireLater();
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** @throws {ChatError} `token_expired`; `unauthenticated` once it was revoked */
  mustStand(): void {
    this.needs.revocations.mustStand(this.identity);
    const { expiresAt } = this.identity;
    if (this.#isExpired || (expiresAt !== null && expiresAt <= this.needs.clock.now()))
      throw new ChatError('token_expired');
  }

  /**
   * CON-5: a new token of the same user.
   *
   * @throws {ChatError} `forbidden` for one of somebody else, or that has no place here; what {@link Admission.admit} throws
   */
  renew(token: string, claims: Readonly<Record<string, unknown>>): Promise<{ expiresAt: string | null }> {
    return this.#renewals.run(() => this.#renew(token, claims));
  }

  /** Settles when the renewals that have been asked for are through; null where there is none. */
  settled(): Promise<void> | null {
    return this.#renewals.settled();
  }

  async #renew(token: string, claims: Readonly<Record<string, unknown>>): Promise<{ expiresAt: string | null }> {
    const before = this.identity;
    const renewed = await this.needs.admission.admit(this.from, { token, claims });
    if (renewed.userId !== before.userId || renewed.tenantId !== before.tenantId)
      throw new ChatError('forbidden', 'The token is of another user.');
    this.needs.mustFit(renewed);
    this.#identity = renewed;
    this.#isExpired = false;
    this.#expireLater();
    await this.listener.renewed(rightsOf(before) !== rightsOf(renewed));
    return { expiresAt: renewed.expiresAt === null ? null : new Date(renewed.expiresAt).toISOString() };
  }

  revoked(): void {
    this.listener.revoked();
  }

  /** The connection is gone. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#unwatch();
  }

  #expireLater(): void {
    const { clock, authGraceMs } = this.needs;
    this.#timer?.cancel();
    this.#timer = null;
    // It may have gone while a new token was looked at.
    if (this.#isClosed) return;
    const { expiresAt } = this.identity;
    if (expiresAt === null) return;
    const leftMs = Math.max(0, expiresAt - clock.now());
    this.#timer = clock.after(Math.min(leftMs, MAX_TIMER_MS), () => {
      if (clock.now() < expiresAt) return this.#expireLater();
      this.#isExpired = true;
      this.#timer = clock.after(authGraceMs, () => this.listener.lapsed());
      this.listener.expired();
    });
  }
}

/** What decides over what an identity may do, beside who it is. */
const rightsOf = ({ teamId, roles, assistants }: Identity): string =>
  JSON.stringify([teamId, [...roles].sort(), assistants && [...assistants].sort()]);
