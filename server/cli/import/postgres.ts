import pg from 'pg';
import type { Sql, SqlRow } from './sql.js';

/** How long a server may take to let somebody in, milliseconds. */
const CONNECT_MS = 15_000;

/** Values as the text in which PostgreSQL writes them: no number, time or JSON goes through a parser of the driver's. */
const asText = { getTypeParser: () => (value: unknown) => (value instanceof Buffer ? value.toString() : value) };

/**
 * A PostgreSQL database, for reading only.
 *
 * @throws {Error} no server answers, or it does not let this user in
 */
export async function openPostgres(url: string): Promise<Sql> {
  const client = new pg.Client({ connectionString: url, types: asText, connectionTimeoutMillis: CONNECT_MS });
  // A connection that is lost between two queries is told by the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
    await client.query("SET TIME ZONE 'UTC'");
    await client.query("SET DATESTYLE TO 'ISO'");
  } catch (error) {
    await client.end().catch(() => undefined);
    throw new Error(`the old database cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  const all = async (query: string, parameters: readonly string[] = []): Promise<SqlRow[]> => {
    let place = 0;
    const numbered = query.replace(/\?/g, () => `$${++place}`);
    return (await client.query<Record<string, string | null>>(numbered, [...parameters])).rows;
  };
  return {
    columns: async (table) =>
      (
        await all(
          `SELECT attname::text AS name FROM pg_attribute
           WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
          [table],
        )
      ).map(({ name }) => String(name)),
    selected: (column) => column,
    all,
    close: () => client.end(),
  };
}

/** Where a name has several addresses, the error of all of them has no words of its own. */
function reasonOf(error: unknown): string {
  const { message, code } = error as Error & { code?: string };
  return message || code || 'no answer';
}
