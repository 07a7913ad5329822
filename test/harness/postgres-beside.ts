import pg from 'pg';
import { timeIn } from '../../server/adapters/prisma/dialect.js';
import { postgresDialect } from '../../server/adapters/prisma/postgresql/dialect.js';
import { heldUntilReleased, type Hold } from './hold.js';
import { connected, connection } from './postgres-database.js';
import type { Row, StoreBeside } from './store-beside.js';

const { INT8, TIMESTAMP } = pg.types.builtins;
/** Counts as numbers, times as SQLite has them; everything else as the driver gives it. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid) {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMP) return (text: string) => timeIn(new Date(`${text}Z`).toISOString());
    return pg.types.getTypeParser(oid) as (text: string) => unknown;
  },
};

export class PostgresBeside implements StoreBeside {
  constructor(private readonly url: string) {}

  rows(sql: string, ...args: readonly unknown[]): Promise<Row[]> {
    return connected(this.url, async (client) => {
      const { rows } = await client.query<Row>({ text: postgresDialect.parameters(sql), values: [...args], types });
      return rows;
    });
  }

  async lock(): Promise<Hold> {
    const client = await connection(this.url);
    const { rows } = await client.query<{ tables: string }>(
      `SELECT string_agg(quote_ident(tablename), ', ') AS tables FROM pg_tables WHERE schemaname = 'public'`,
    );
    await client.query(`BEGIN; LOCK TABLE ${rows[0]?.tables} IN EXCLUSIVE MODE`);
    return heldUntilReleased(() => client.end());
  }

  async refuseUpdates(table: string): Promise<Hold> {
    const change = (sql: string) => connected(this.url, async (client) => void (await client.query(sql)));
    await change(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refusal BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`);
    return heldUntilReleased(() => change('DROP FUNCTION refuse CASCADE'));
  }

  /** Whoever reads or writes the table fails, until it is released. */
  async hide(table: string): Promise<Hold> {
    const rename = (from: string, to: string) =>
      connected(this.url, async (client) => void (await client.query(`ALTER TABLE ${from} RENAME TO ${to}`)));
    await rename(table, 'hidden');
    return heldUntilReleased(() => rename('hidden', table));
  }
}
