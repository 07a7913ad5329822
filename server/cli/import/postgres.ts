import pg from 'pg';
import { textOf } from './column-text.js';
import { unreadable, type Sql, type SqlKey } from './sql.js';

const BYTEA: number = pg.types.builtins.BYTEA;
/** How long a server may take to let somebody in, milliseconds. */
const CONNECT_MS = 15_000;

/**
 * Values as the text in which PostgreSQL writes them: no number, time or JSON goes through a parser of the driver's. Bytes
 * are those of a text, as they are in SQLite.
 */
const asText = {
  getTypeParser: (type: number) => (value: string) =>
    type === BYTEA ? textOf(Buffer.from(value.slice('\\x'.length), 'hex')) : value,
};

/**
 * A PostgreSQL database, for reading only.
 *
 * @throws {Error} no server answers, or it does not let this user in
 */
export async function openPostgres(url: string): Promise<Sql> {
  const client = new pg.Client({ connectionString: url, types: asText, connectionTimeoutMillis: CONNECT_MS });
  // A connection that is lost between two queries is told by the next one.
  client.on('error', () => undefined);
  const query = async <Row extends pg.QueryResultRow>(text: string, parameters: readonly SqlKey[]): Promise<Row[]> => {
    try {
      return (await client.query<Row>(numbered(text), [...parameters])).rows;
    } catch (error) {
      throw unreadable(error);
    }
  };
  try {
    await client.connect();
    await client.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
    await client.query("SET TIME ZONE 'UTC'");
    await client.query("SET DATESTYLE TO 'ISO'");
    await client.query("SET BYTEA_OUTPUT TO 'hex'");
  } catch (error) {
    await client.end().catch(() => undefined);
    throw unreadable(error);
  }
  const [encoding] = await query<{ server_encoding: string }>('SHOW server_encoding', []);
  // A database of this one takes any bytes for a text, and the driver would replace them in silence.
  const isUnchecked = encoding?.server_encoding === 'SQL_ASCII';
  return {
    columns: async (table) =>
      (
        await query<{ name: string }>(
          `SELECT attname::text AS name FROM pg_attribute
           WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
          [table],
        )
      ).map(({ name }) => name),
    selected: (column) => (isUnchecked ? `convert_to(${column}::text, 'SQL_ASCII') AS ${column}` : column),
    bytes: (column) => `octet_length(${column}::text)`,
    all: (text, parameters = []) => query(text, parameters),
    keys: (text, parameters = []) => query(text, parameters),
    close: () => client.end(),
  };
}

/** `$1`, `$2` for each `?` that stands in no quoted name. */
function numbered(query: string): string {
  let place = 0;
  return query.replace(/"(?:[^"]|"")*"|\?/g, (found) => (found === '?' ? `$${++place}` : found));
}
