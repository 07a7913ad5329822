import type { Request, RequestHandler } from 'express';
import { definedOf } from '../../../protocol/index.js';
import type { AddressOf } from '../address.js';
import type { Admission } from '../admission.js';
import type { Caller } from '../caller.js';
import type { RateLimit } from '../rate-limit.js';

/** Who sends a request, known from the moment on when `identify` has let it pass. */
export interface Callers {
  /** Authenticates the request and counts it as a command of its caller. */
  readonly identify: RequestHandler;
  of(request: Request): Caller;
}

export interface CallersNeeds {
  readonly admission: Admission;
  readonly addressOf: AddressOf;
  readonly rateLimit: Pick<RateLimit, 'command'>;
}

export function createCallers({ admission, addressOf, rateLimit }: CallersNeeds): Callers {
  const callers = new WeakMap<Request, Caller>();
  return {
    async identify(request, _response, next) {
      const token = bearerOf(request);
      const from = { address: addressOf(request), http: { id: request.id } };
      const identity = await admission.admit(from, {
        ...(token === undefined ? {} : { token }),
        claims: claimsOf(request),
      });
      await rateLimit.command(identity);
      callers.set(request, { identity, from });
      next();
    },
    of(request) {
      const caller = callers.get(request);
      if (!caller) throw new Error('a route that asks for its caller stands behind identify');
      return caller;
    },
  };
}

const bearerOf = (request: Request): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];

/** CON-1: what the headers say that `auth` says on a socket. A header that is absent makes no claim. */
function claimsOf(request: Request): Record<string, unknown> {
  const text = (name: string): string | undefined => asUtf8(request.get(name));
  const roles = text('x-roles')
    ?.split(',')
    .map((role) => role.trim());
  return definedOf({ userId: text('x-user-id'), teamId: text('x-team-id'), tenantId: text('x-tenant-id'), roles });
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
