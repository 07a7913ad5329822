import { createJwtVerifier } from '../adapters/jwt/verifier.js';
import type { Clock } from '../clock.js';
import type { Config } from '../config.js';
import type { Log } from '../log.js';
import type { Revocations } from '../session/revocations.js';
import { createOpenAuthenticator, type Authenticator } from '../wire/authenticate.js';
import { createTokenAuthenticator } from '../wire/token-authenticator.js';

/** Who callers are, as AUTH_MODE says. */
export function authenticatorOf(
  config: Config,
  needs: { readonly revocations: Revocations; readonly clock: Clock; readonly log: Log },
): Authenticator {
  const { authMode, authJwtSecret, authJwksUrl, authClockToleranceMs } = config;
  if (authMode === 'none') return createOpenAuthenticator();
  const keys = authJwtSecret === undefined ? { jwksUrl: String(authJwksUrl) } : { secret: authJwtSecret };
  const verifier = createJwtVerifier(
    {
      keys,
      issuer: config.authJwtIssuer,
      audience: config.authJwtAudience,
      clockToleranceMs: authClockToleranceMs,
    },
    needs,
  );
  return createTokenAuthenticator({ ...needs, verifier, clockToleranceMs: authClockToleranceMs });
}
