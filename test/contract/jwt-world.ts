import { createHmac } from 'node:crypto';
import { SignJWT, type JWTHeaderParameters } from 'jose';
import { expect, onTestFinished, vi } from 'vitest';
import { createJwtVerifier, type JwtSettings } from '../../server/adapters/jwt/verifier.js';
import type { Clock } from '../../server/clock.js';
import { createLog } from '../../server/log.js';
import { KeyServer, type SigningKey } from '../harness/key-server.js';
import { manualClock } from './manual-clock.js';

export const SECRET = 'a secret of more than thirty-two bytes, as RFC 7518 has it';
/** When the clock begins: seconds since 1970. */
export const BEGIN = 1_800_000_000;
export const ALICE = { sub: 'alice', exp: BEGIN + 3600 };

const encoded = (secret: string): Uint8Array => new TextEncoder().encode(secret);
export const hs = (claims: Record<string, unknown>, header: Partial<JWTHeaderParameters> = {}, key = SECRET) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...header }).sign(encoded(key));

/** How far the process's own clock is off, which no claim may be held against. */
const SKEW_MS = 10 * 365 * 86_400_000;

/**
 * A verifier on a clock that a test moves, from {@link BEGIN} on; `Date`, by which `jose` ages its cache, goes along, at
 * another time.
 */
export function verifierOf(settings: Partial<JwtSettings> = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: BEGIN * 1000 + SKEW_MS });
  onTestFinished(() => void vi.useRealTimers());
  const manual = manualClock();
  const clock: Clock = { ...manual, now: () => BEGIN * 1000 + manual.now() };
  const verifier = createJwtVerifier(
    { keys: { secret: SECRET }, issuer: undefined, audience: undefined, clockToleranceMs: 0, ...settings },
    { clock, log: createLog('silent') },
  );
  return {
    verify: (token: string) => verifier.verify(token),
    verifier,
    advance: (ms: number): void => {
      manual.advance(ms);
      vi.setSystemTime(clock.now() + SKEW_MS);
    },
  };
}

export async function jwks(...keys: readonly SigningKey[]) {
  const server = await KeyServer.start(...keys);
  return { server, ...verifierOf({ keys: { jwksUrl: server.url } }) };
}

/** The refusal as the caller is told it. */
export async function refusal(
  promise: Promise<unknown>,
): Promise<{ code: string; retryable: boolean; message: string }> {
  const error: unknown = await promise.then(
    (claims) => Promise.reject(new Error(`believed: ${JSON.stringify(claims)}`)),
    (thrown: unknown) => thrown,
  );
  expect(error, 'a ChatError').toMatchObject({ name: 'ChatError' });
  return (error as { body(): { code: string; retryable: boolean; message: string } }).body();
}

/** A token that is signed by hand, so that its parts may be anything. */
export function signedParts(head: string, claims: string): string {
  const text = [head, claims].map((part) => Buffer.from(part, 'latin1').toString('base64url')).join('.');
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

export const UNAUTHENTICATED = { code: 'unauthenticated', retryable: false };
