import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/** Where ids and chance come from; tests bring their own. */
export interface IdSource {
  /** A UUIDv7: unique in the world, ordered by time, so that indexes grow at their end. */
  id(): string;
  /** A short random text that names one life of something (an epoch). */
  epoch(): string;
  /** A number from 0 up to 1, for jitter. */
  fraction(): number;
}

export const systemIds: IdSource = {
  id: () => v7(),
  epoch: () => randomBytes(9).toString('base64url'),
  fraction: () => Math.random(),
};
