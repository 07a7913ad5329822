import * as z from 'zod';
import {
  assistantId,
  ChatError,
  MAX_TOKEN_LENGTH,
  principalId,
  ROLES,
  tokenId,
  type UserRole,
} from '../../protocol/index.js';
import type { TokenVerifier } from '../ports/token-verifier.js';
import type { Identity } from '../session/identity.js';
import type { Revocations } from '../session/revocations.js';
import type { Authenticator } from './authenticate.js';

/** Seconds since 1970, as RFC 7519 has times: so many that with any tolerance they are still a date. */
const numericDate = z.number().min(0).max(8.6e12);
const isRole = (role: string): role is UserRole => (ROLES as readonly string[]).includes(role);

/** Section 10. Whoever issues tokens may have roles of their own: those that mean nothing here give nothing here. */
const claims = z.object({
  sub: principalId,
  team_id: principalId.nullish(),
  tenant_id: principalId.nullish(),
  roles: z
    .array(z.string())
    .max(256)
    .default(['user'])
    .transform((roles) => [...new Set(roles.filter(isRole))]),
  assistants: z.array(assistantId).max(10_000).nullish(),
  jti: tokenId.optional(),
  iat: numericDate.optional(),
  exp: numericDate.optional(),
});

export interface TokenAuthenticatorNeeds {
  readonly verifier: TokenVerifier;
  readonly revocations: Pick<Revocations, 'mustStand'>;
  /** How far the clock of whoever issues tokens may be off. */
  readonly clockToleranceMs: number;
}

/** AUTH_MODE=jwt: callers are whom a token says they are, until it expires or is revoked; what else they say is not looked at. */
export function createTokenAuthenticator({
  verifier,
  revocations,
  clockToleranceMs,
}: TokenAuthenticatorNeeds): Authenticator {
  return {
    async authenticate({ token }) {
      if (token === undefined) throw new ChatError('unauthenticated', 'A token is needed.');
      if (token.length > MAX_TOKEN_LENGTH) throw new ChatError('unauthenticated', 'The token is too long.');
      const identity = identityOf(await verifier.verify(token), clockToleranceMs);
      revocations.mustStand(identity);
      return identity;
    },
  };
}

/** @throws {ChatError} `unauthenticated` with the claim that is not of its form */
function identityOf(given: Readonly<Record<string, unknown>>, clockToleranceMs: number): Identity {
  const parsed = claims.safeParse(given);
  if (!parsed.success) {
    const claim = String(parsed.error.issues[0]?.path[0]);
    throw new ChatError('unauthenticated', `The token's claim ${claim} is not of its form.`, { details: { claim } });
  }
  const { sub, team_id, tenant_id, roles, assistants, jti, iat, exp } = parsed.data;
  return {
    userId: sub,
    teamId: team_id ?? null,
    tenantId: tenant_id ?? null,
    roles,
    assistants: assistants ?? null,
    expiresAt: exp === undefined ? null : exp * 1000 + clockToleranceMs,
    token: { tokenId: jti ?? null, issuedAt: iat === undefined ? null : iat * 1000 - clockToleranceMs },
  };
}
