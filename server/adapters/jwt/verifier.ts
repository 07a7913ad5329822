import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import { ChatError } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { Log } from '../../log.js';
import type { TokenVerifier } from '../../ports/token-verifier.js';
import { remoteKeySet } from './key-set.js';

export interface JwtSettings {
  /** What signatures are checked with: a secret that the issuer shares, or the address of its public keys. */
  readonly keys: { readonly secret: string } | { readonly jwksUrl: string };
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly clockToleranceMs: number;
}

/** Which algorithms each kind of key is for. A token chooses among them, and never between a secret and a public key. */
const SECRET_ALGORITHMS = ['HS256'];
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];

/** JSON Web Tokens (RFC 7519) by `jose` (docs/decisions/0060). */
export function createJwtVerifier(
  settings: JwtSettings,
  needs: { readonly clock: Clock; readonly log: Log },
): TokenVerifier {
  const { keys, issuer, audience, clockToleranceMs } = settings;
  const isSecret = 'secret' in keys;
  const key = isSecret ? secretKey(keys.secret) : remoteKeySet(keys.jwksUrl, needs);
  const options: JWTVerifyOptions = {
    algorithms: isSecret ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS,
    clockTolerance: Math.ceil(clockToleranceMs / 1000) + 1,
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };
  return {
    async verify(token) {
      try {
        const now = needs.clock.now();
        const { payload } = await jwtVerify(token, key, { ...options, currentDate: new Date(now) });
        mustBeInTime(payload, now, clockToleranceMs);
        return payload;
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}

const secretKey = (secret: string): JWTVerifyGetKey => {
  const bytes = new TextEncoder().encode(secret);
  return async () => bytes;
};

/** The library counts whole seconds and is given one too many. @throws {ChatError} `token_expired`, `unauthenticated` */
function mustBeInTime({ exp = Infinity, nbf = -Infinity }: JWTPayload, now: number, toleranceMs: number): void {
  if (exp * 1000 + toleranceMs <= now) throw new ChatError('token_expired');
  if (nbf * 1000 - toleranceMs > now)
    throw new ChatError('unauthenticated', "The token's claim nbf is not as expected.");
}

/** Says what is wrong with a token to whoever shows it, and nothing of the keys. */
function refusalOf(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof errors.JWTExpired) return new ChatError('token_expired', undefined, { cause: error });
  return new ChatError('unauthenticated', sentenceOf(error), { cause: error });
}

function sentenceOf(error: unknown): string {
  // A key that cannot be imported, or is too short for its algorithm, is told of by the engine's own errors.
  if (!(error instanceof errors.JOSEError)) return 'The token is signed with a key that cannot be used.';
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's claim ${error.claim} is not as expected.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "The token's signature is not right.";
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed with an algorithm that is not used here.';
  if (error instanceof errors.JWKSNoMatchingKey) return 'The token is signed with a key that is not known here.';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'The token does not name the key it is signed with.';
  return 'This is not a token that can be read.';
}
