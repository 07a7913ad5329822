import pg from 'pg';

const NO_SUCH_DATABASE = '3D000';
/** Somebody else has just made it: its name is taken, or was within the same moment. */
const MADE_MEANWHILE = /^(42P04|23505)$/;

/**
 * Makes the database that a connection has just missed.
 * @param refusal why connecting to `url` failed
 * @returns whether it is there now, so that connecting again is worth it
 */
export async function createDatabase(url: string, refusal: unknown): Promise<boolean> {
  if (codeOf(refusal) !== NO_SUCH_DATABASE) return false;
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  // A database cannot be made from inside; every server has this one.
  target.pathname = '/postgres';
  const client = new pg.Client({ connectionString: target.href, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return true;
  } catch (error) {
    // Who may not make one is told what was missing in the first place.
    return MADE_MEANWHILE.test(codeOf(error));
  } finally {
    await client.end();
  }
}

const codeOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '');
