import type { Identity } from '../session/identity.js';

/** Where something came from. */
export interface Provenance {
  /** Of whom sent it, as far as trusted proxies say. */
  readonly address: string;
  /** Of a socket. */
  readonly connectionId?: string;
  /** Of a request: what `x-request-id` says. */
  readonly http?: { readonly id: unknown };
}

/** Who sends a command, and from where. */
export interface Caller {
  readonly identity: Identity;
  readonly from: Provenance;
}
