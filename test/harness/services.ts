import { describe } from 'vitest';

/**
 * The services of the machine that tests use. `tools/services.mjs` starts what is missing and says where it is; an empty
 * address says that there is none. Without `npm test` they are expected where they usually are.
 */
export const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
export const REDIS_URL = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';

/** A `describe` whose tests are skipped where there is no PostgreSQL. */
export const describeOnPostgres = describe.skipIf(POSTGRES_URL === '');
/** A `describe` whose tests are skipped where there is no Redis. */
export const describeOnRedis = describe.skipIf(REDIS_URL === '');
