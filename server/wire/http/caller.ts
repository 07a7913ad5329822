import type { Request, RequestHandler } from 'express';
import type { Identity } from '../../session/identity.js';
import type { Authenticator } from '../authenticate.js';
import type { RateLimit } from '../rate-limit.js';

/** Who sends a request, known from the moment on when `identify` has let it pass. */
export interface Caller {
  /** Authenticates the request and counts it as a command of its caller. */
  readonly identify: RequestHandler;
  of(request: Request): Identity;
}

export function createCaller(authenticator: Authenticator, rateLimit: RateLimit): Caller {
  const identities = new WeakMap<Request, Identity>();
  return {
    async identify(request, _response, next) {
      const token = bearerToken(request);
      const identity = await authenticator.authenticate({
        ...(token === undefined ? {} : { token }),
        claims: claimsOf(request),
      });
      await rateLimit.consume(identity);
      identities.set(request, identity);
      next();
    },
    of(request) {
      const identity = identities.get(request);
      if (!identity) throw new Error('a route that asks for its caller stands behind identify');
      return identity;
    },
  };
}

const bearerToken = (request: Request): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];

/** CON-1: what the headers say that `auth` says on a socket. A header that is absent makes no claim. */
function claimsOf(request: Request): Record<string, unknown> {
  const text = (name: string): string | undefined => asUtf8(request.get(name));
  const roles = text('x-roles')
    ?.split(',')
    .map((role) => role.trim());
  const claims = { userId: text('x-user-id'), teamId: text('x-team-id'), tenantId: text('x-tenant-id'), roles };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

/** Node gives a header's bytes one by one as Latin-1; most programs send UTF-8, and on a socket the name came as text. */
function asUtf8(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
