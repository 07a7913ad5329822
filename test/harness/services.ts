/** The services of the machine that tests use; `tools/services.mjs` starts what is missing. */
export const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
