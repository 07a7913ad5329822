import * as z from 'zod';

const claims = z.object({ sub: z.string().optional(), exp: z.number().optional() });

/** What a token says of itself, for showing: the server alone checks it. */
export interface TokenClaims {
  readonly userId: string | null;
  /** Milliseconds since 1970; null: it never expires, or does not say. */
  readonly expiresAt: number | null;
}

export function tokenClaims(token: string): TokenClaims {
  try {
    const body = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { sub, exp } = claims.parse(JSON.parse(atob(body)));
    return { userId: sub ?? null, expiresAt: exp === undefined ? null : exp * 1000 };
  } catch {
    return { userId: null, expiresAt: null };
  }
}
