import type { Identity } from '../session/identity.js';
import type { AuditLog } from './audit-log.js';
import type { Provenance } from './caller.js';
import type { Authenticator, Credentials } from './authenticate.js';
import { asChatError } from './as-chat-error.js';
import type { RateLimit } from './rate-limit.js';
import type { Log } from '../log.js';

/** The way in, the same for sockets of both kinds, requests and event streams. */
export interface Admission {
  /** @throws {ChatError} `rate_limited` for an address that tries too often; what {@link Authenticator.authenticate} throws */
  admit(from: Provenance, credentials: Credentials): Promise<Identity>;
}

export interface AdmissionNeeds {
  readonly authenticator: Authenticator;
  readonly rateLimit: Pick<RateLimit, 'mustHaveTries' | 'failed'>;
  readonly audit: Pick<AuditLog, 'refused'>;
  readonly log: Log;
}

/** An address is looked at before a token is: to verify one costs far more than to count. */
export function createAdmission({ authenticator, rateLimit, audit, log }: AdmissionNeeds): Admission {
  return {
    async admit(from, credentials) {
      await rateLimit.mustHaveTries(from.address);
      try {
        return await authenticator.authenticate(credentials);
      } catch (thrown) {
        const error = asChatError(thrown, log, { ...from });
        if (error.code !== 'internal') {
          rateLimit.failed(from.address);
          audit.refused(from, error.code, error.message);
        }
        throw error;
      }
    },
  };
}
