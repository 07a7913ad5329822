import pg from 'pg';
import { ChatError } from '../../../../protocol/index.js';
import type { Clock } from '../../../clock.js';
import { DatabaseClaim } from '../postgresql/claim.js';
import { postgresDialect } from '../postgresql/dialect.js';
import type { SqlRow, SqlValue } from '../sql.js';
import type { Column, Kind, Readers, Row, Side, Table, Value } from './side.js';

const KINDS: Readonly<Record<string, Kind>> = { int4: 'integer', bool: 'flag', timestamp: 'time', jsonb: 'json' };

/** What is a database's fault in the eyes of PostgreSQL, and what is that of the data: classes of its error codes. */
const OF_THE_DATA = /^(22|23|54)/;

const readers: Readers = {
  integer: Number,
  flag: (raw) => raw === 't',
  text: String,
  time: (raw) => {
    const ms = Date.parse(`${String(raw).replace(' ', 'T')}Z`);
    if (Number.isNaN(ms)) throw new Error('is no time');
    return ms;
  },
  json: String,
};

const written = (value: Value | undefined, kind: Kind): Value =>
  kind === 'time' && value !== null ? new Date(Number(value)).toISOString() : (value ?? null);

export class PostgresSide implements Side {
  readonly readers = readers;

  private constructor(
    private readonly client: pg.Client,
    private readonly claim: DatabaseClaim,
  ) {}

  /** @throws {Error} a server uses the database, none is there, or it does not let us in */
  static async open(url: string, { isReadOnly, clock }: { readonly isReadOnly: boolean; readonly clock: Clock }) {
    const claim = await claimed(url, clock);
    const client = new pg.Client({
      connectionString: url,
      application_name: 'turnstream copy',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      // Values as the text in which PostgreSQL writes them: no time and no JSON goes through a parser of the driver's.
      types: { getTypeParser: () => (text: string) => text },
    });
    // The statement that was under way says it too.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query("SET DATESTYLE TO 'ISO'");
      if (isReadOnly) await client.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
      return new PostgresSide(client, claim);
    } catch (error) {
      await client.end().catch(() => undefined);
      await claim.release();
      throw error;
    }
  }

  async select(sql: string, args: readonly SqlValue[]): Promise<SqlRow[]> {
    return (await this.client.query<SqlRow>(postgresDialect.parameters(sql), [...args])).rows;
  }

  async columns(table: Table): Promise<Column[]> {
    const { rows } = await this.client.query<{ name: string; type: string }>(
      `SELECT attname AS name, typname AS type FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
       WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C"`,
      [table],
    );
    return rows.map(({ name, type }) => ({ name, kind: KINDS[type] ?? 'text' }));
  }

  selected({ name }: Column): string {
    return name;
  }

  bytes(column: string): string {
    return `octet_length(${column}::text)`;
  }

  async add(table: Table, columns: readonly Column[], rows: readonly Row[]): Promise<number> {
    const names = columns.map(({ name }) => name).join(', ');
    const places = `(${columns.map(() => '?').join(', ')})`;
    const { rowCount } = await this.client.query(
      postgresDialect.parameters(
        `INSERT INTO ${table} (${names}) VALUES ${rows.map(() => places).join(', ')} ON CONFLICT DO NOTHING`,
      ),
      rows.flatMap(({ values }) => columns.map(({ kind }, index) => written(values[index], kind))),
    );
    return rowCount ?? 0;
  }

  objection(error: unknown): string | null {
    return error instanceof pg.DatabaseError && OF_THE_DATA.test(error.code ?? '') ? error.message : null;
  }

  async countOn(table: Table): Promise<void> {
    await this.client.query(
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table} HAVING max(id) IS NOT NULL`,
    );
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.claim.release();
  }
}

async function claimed(url: string, clock: Clock): Promise<DatabaseClaim> {
  try {
    return await DatabaseClaim.take(url, clock, 'alone');
  } catch (error) {
    throw error instanceof ChatError ? new Error('a server uses it; stop it first') : error;
  }
}
