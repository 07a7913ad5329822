import { randomBytes, randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import type { As } from './peer.js';

const SECRET = randomBytes(32).toString('hex');
/** Settings of a server that believes {@link tokenFor}. */
export const JWT_ENV = { AUTH_MODE: 'jwt', AUTH_JWT_SECRET: SECRET };

export interface TokenOptions {
  /** Seconds from now; null: without an end. */
  readonly expiresIn?: number | null;
  readonly assistants?: readonly string[];
  /** Whatever else the token is to say, or to say otherwise. */
  readonly claims?: JWTPayload;
  readonly secret?: string;
}

const now = (): number => Math.floor(Date.now() / 1000);

/** The claims of somebody (section 10). */
function claimsFor(
  { userId, teamId, tenantId, roles }: As,
  { expiresIn = 3600, assistants, claims }: TokenOptions = {},
): JWTPayload {
  return {
    ...(userId === undefined ? {} : { sub: userId }),
    ...(teamId === undefined ? {} : { team_id: teamId }),
    ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
    ...(roles === undefined ? {} : { roles: [...roles] }),
    ...(assistants === undefined ? {} : { assistants: [...assistants] }),
    ...(expiresIn === null ? {} : { exp: now() + expiresIn }),
    iat: now(),
    jti: randomUUID(),
    ...claims,
  };
}

export const tokenFor = (as: As, options: TokenOptions = {}): Promise<string> =>
  new SignJWT(claimsFor(as, options))
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(options.secret ?? SECRET));

/** `alg: none` (RFC 7519, section 6): whoever likes can write one. */
export const unsignedTokenFor = (as: As): string => new UnsecuredJWT(claimsFor(as)).encode();
