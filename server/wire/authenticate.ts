import * as z from 'zod';
import { parse, principalId, userRole } from '../../protocol/index.js';
import type { Identity } from '../session/identity.js';

/** What a caller shows: a bearer token, and what they say of themselves (CON-1). */
export interface Credentials {
  readonly token?: string;
  /** `auth` of a socket's handshake, or what the `x-` headers of a request stand for. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Finds out who is calling, once per connection or request. */
export interface Authenticator {
  /** @throws {ChatError} `unauthenticated`, `token_expired`; `bad_request` with the path of a claim that is no name */
  authenticate(credentials: Credentials): Promise<Identity>;
}

const claims = z.object({
  userId: principalId.default('local'),
  teamId: principalId.nullable().default(null),
  tenantId: principalId.nullable().default(null),
  roles: z
    .array(userRole)
    .min(1)
    .max(16)
    .default(['user', 'agent'])
    .transform((roles) => [...new Set(roles)]),
});

/** Who a caller says to be. */
export type CallerClaims = z.input<typeof claims>;

/** @throws {ChatError} `bad_request` with the path of a claim that is no name */
export const openIdentity = (said: Readonly<Record<string, unknown>>): Identity => ({
  ...parse(claims, said, ['auth']),
  assistants: null,
  expiresAt: null,
  token: null,
});

/**
 * AUTH_MODE=none, for development: callers are who they say, without a limit of time. Nobody is an `admin` who did not
 * ask for it. A token is not looked at.
 */
export function createOpenAuthenticator(): Authenticator {
  return { authenticate: async ({ claims: said }) => openIdentity(said) };
}
