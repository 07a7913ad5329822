import type { User, UserRole } from '../../protocol/index.js';

/** Who is calling, as authentication found it. */
export interface Identity {
  readonly userId: string;
  readonly teamId: string | null;
  readonly tenantId: string | null;
  readonly roles: readonly UserRole[];
  /** The assistants an agent may serve; null: any. */
  readonly assistants: readonly string[] | null;
  /** When it ends, milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
  /** The token that it was read from; null where none was asked for (AUTH_MODE=none). */
  readonly token: TokenFacts | null;
}

/** What revocation goes by. */
interface TokenFacts {
  /** The claim `jti`; null: it has none. */
  readonly tokenId: string | null;
  /** When it was issued at the earliest: `iat` less the tolerance, milliseconds since 1970; null: it does not say. */
  readonly issuedAt: number | null;
}

/** Names a user in maps: one and the same only within their tenant. */
export const userKey = ({ tenantId, userId }: Pick<Identity, 'tenantId' | 'userId'>): string =>
  JSON.stringify([tenantId, userId]);

/** What the caller is told of their identity. */
export const userOf = ({ userId, teamId, tenantId, roles }: Identity): User => ({
  userId,
  teamId,
  tenantId,
  roles: [...roles],
});
