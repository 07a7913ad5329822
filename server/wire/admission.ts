import type { Identity } from '../session/identity.js';
import type { AuditLog, Origin } from './audit-log.js';
import type { Authenticator, Credentials } from './authenticate.js';
import { asChatError } from './dispatch.js';
import type { RateLimit } from './rate-limit.js';
import type { Log } from '../log.js';

/** The way in, the same for sockets of both kinds, requests and event streams. */
export interface Admission {
  /** @throws {ChatError} `rate_limited` for an address that tries too often; what {@link Authenticator.authenticate} throws */
  admit(origin: Origin, credentials: Credentials): Promise<Identity>;
}

export interface AdmissionNeeds {
  readonly authenticator: Authenticator;
  readonly rateLimit: Pick<RateLimit, 'mayTry' | 'failed'>;
  readonly audit: Pick<AuditLog, 'refused'>;
  readonly log: Log;
}

/** An address is looked at before a token is: to verify one costs far more than to count. */
export function createAdmission({ authenticator, rateLimit, audit, log }: AdmissionNeeds): Admission {
  return {
    async admit(origin, credentials) {
      await rateLimit.mayTry(origin.address);
      try {
        return await authenticator.authenticate(credentials);
      } catch (thrown) {
        const error = asChatError(thrown, log, { ...origin });
        if (error.code !== 'internal') rateLimit.failed(origin.address);
        audit.refused(origin, error.code, error.message);
        throw error;
      }
    },
  };
}
