import { SignJWT } from 'jose';
import * as z from 'zod';
import { assistantId, principalId, ROLES } from '../../protocol/index.js';
import { readConfig } from '../config.js';
import { systemIds } from '../id-source.js';
import type { Call } from './command.js';
import { UsageError } from './usage-error.js';

const EXPIRES = '12h';

const list = (text: string | undefined): string[] | undefined => text?.split(',').map((part) => part.trim());

const asked = z.object({
  user: principalId,
  team: principalId.optional(),
  tenant: principalId.optional(),
  roles: z.array(z.enum(ROLES, { error: `expected ${ROLES.join(', ')}` })).optional(),
  assistants: z.array(assistantId).optional(),
  expires: z.string().regex(/^[1-9]\d{0,5}[smhd]$/, { error: 'expected a time such as 30s, 15m, 12h or 7d' }),
});

/**
 * Prints a token for a server that runs with the same settings: whoever has AUTH_JWT_SECRET may be anyone.
 *
 * @throws {UsageError} an option that is not of its form; no secret to sign with
 */
export async function token({ words: [user = ''], options }: Call): Promise<number> {
  const { authJwtSecret, authJwtIssuer, authJwtAudience } = readConfig({ ...process.env, AUTH_MODE: 'none', HOST: '' });
  if (authJwtSecret === undefined)
    throw new UsageError('AUTH_JWT_SECRET is not set: tokens of another issuer can only be had from that issuer');
  const parsed = asked.safeParse({
    user,
    ...options,
    roles: list(options.roles),
    assistants: list(options.assistants),
    expires: options.expires ?? EXPIRES,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${String(issue?.path[0])}: ${issue?.message}`);
  }
  const { team, tenant, roles, assistants, expires } = parsed.data;
  const claims = {
    ...(team === undefined ? {} : { team_id: team }),
    ...(tenant === undefined ? {} : { tenant_id: tenant }),
    ...(roles === undefined ? {} : { roles }),
    ...(assistants === undefined ? {} : { assistants }),
  };
  const jwt = new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(parsed.data.user)
    .setJti(systemIds.id())
    .setIssuedAt()
    .setExpirationTime(expires);
  if (authJwtIssuer !== undefined) jwt.setIssuer(authJwtIssuer);
  if (authJwtAudience !== undefined) jwt.setAudience(authJwtAudience);
  console.log(await jwt.sign(new TextEncoder().encode(authJwtSecret)));
  return 0;
}
