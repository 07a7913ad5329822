import * as z from 'zod';
import { assistantId, principalId } from './ids.js';
import { limits } from './limits.js';

export const PROTOCOL_VERSION = 1;

export const ROLES = ['user', 'agent', 'admin'] as const;
export const userRole = z.enum(ROLES);
export type UserRole = z.infer<typeof userRole>;

/** Longest token that is looked at, characters: HTTP heads hold no longer one either. */
export const MAX_TOKEN_LENGTH = 16_384;
export const bearerToken = z.string().min(1).max(MAX_TOKEN_LENGTH);
/** The claim `jti`: names one token. */
export const tokenId = z.string().min(1).max(256);

/** Who the server takes the caller for. */
export const user = z.object({
  userId: principalId,
  teamId: principalId.nullable(),
  tenantId: principalId.nullable(),
  roles: z.array(userRole),
});
export type User = z.infer<typeof user>;

/** CON-2: the first thing a server says on a connection. */
export const hello = z.object({
  protocol: z.literal(PROTOCOL_VERSION),
  serverVersion: z.string(),
  connectionId: z.string(),
  user,
  limits,
  assistants: z.array(z.object({ assistantId, name: z.string(), available: z.boolean() })),
});
export type Hello = z.infer<typeof hello>;

export const GOAWAY_CODES = [
  'shutdown',
  'token_expired',
  'slow_consumer',
  'revoked',
  'replaced',
  'too_many_connections',
] as const;
export type GoawayCode = (typeof GOAWAY_CODES)[number];

/** CON-6: the last thing a server says before it closes a connection on purpose. */
export const goaway = z.object({
  code: z.enum(GOAWAY_CODES),
  reconnect: z.boolean(),
  retryAfterMs: z.int().min(0).optional(),
});
export type Goaway = z.infer<typeof goaway>;
