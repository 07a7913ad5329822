import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../harness/server.js';

type OldRow = Readonly<Record<string, string | number | boolean | Buffer | null>>;

/** A database with the old tables, as the seed's models declare them, which is gone after the test. */
export interface OldDatabase {
  readonly url: string;
  readonly isText: 'any' | 'well-formed';
  add(table: 'agent_chat' | 'agent_history', ...rows: readonly OldRow[]): Promise<void>;
  run(statement: string): Promise<void>;
}

const CHAT_COLUMNS = `chat_id VARCHAR(200) NOT NULL UNIQUE, title VARCHAR(200), assistant_id VARCHAR(200),
  sid VARCHAR(255) NOT NULL, silent BOOLEAN DEFAULT FALSE`;
const HISTORY_COLUMNS = `sid VARCHAR(255) NOT NULL, cid VARCHAR(200), uid VARCHAR(255), role VARCHAR(200), name VARCHAR(200),
  content TEXT, context JSON, assistant_id VARCHAR(200), assistant_name VARCHAR(200), assistant_avatar VARCHAR(200),
  mentions JSON, silent BOOLEAN DEFAULT FALSE`;

const tables = (id: string, time: string): string[] => [
  `CREATE TABLE agent_chat (id ${id}, ${CHAT_COLUMNS}, created_at ${time}, updated_at ${time})`,
  `CREATE TABLE agent_history (id ${id}, ${HISTORY_COLUMNS}, created_at ${time}, updated_at ${time}, expired_at ${time})`,
  'CREATE INDEX old_history ON agent_history (sid, cid)',
];

/** Rows of the same columns, many in one statement. */
function* inserts(table: string, rows: readonly OldRow[], place: (index: number) => string) {
  for (let from = 0; from < rows.length; from += 500) {
    const some = rows.slice(from, from + 500);
    const columns = [...new Set(some.flatMap((row) => Object.keys(row)))];
    let index = 0;
    const values = some.map(() => `(${columns.map(() => place(++index)).join(', ')})`);
    yield {
      statement: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')}`,
      parameters: some.flatMap((row) => columns.map((column) => row[column] ?? null)),
    };
  }
}

export async function oldSqlite(): Promise<OldDatabase> {
  const path = join(temporaryDirectory(), 'old.db');
  const database = new BetterSqlite3(path);
  onTestFinished(() => void database.close());
  for (const statement of tables('INTEGER PRIMARY KEY AUTOINCREMENT', 'TIMESTAMP')) database.exec(statement);
  return {
    url: `file:${path}`,
    isText: 'any',
    async add(table, ...rows) {
      for (const { statement, parameters } of inserts(table, rows, () => '?'))
        database
          .prepare(statement)
          .run(...parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value)));
    },
    run: async (statement) => void database.exec(statement),
  };
}

const POSTGRES = process.env['TEST_POSTGRES_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';

/** Null where a PostgreSQL server answers, else why tests of it are skipped. With REQUIRE_SERVICES=1 they are not, and fail. */
export async function postgresAbsence(): Promise<string | null> {
  const client = new pg.Client({ connectionString: POSTGRES, connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
    await client.end();
    return null;
  } catch {
    return process.env['REQUIRE_SERVICES'] === '1'
      ? null
      : `skipped: no PostgreSQL answers at ${new URL(POSTGRES).host}`;
  }
}

export async function oldPostgres(encoding = 'UTF8'): Promise<OldDatabase> {
  const name = `turnstream_import_${randomBytes(6).toString('hex')}`;
  const asAdministrator = async (statement: string): Promise<void> => {
    const administrator = new pg.Client({ connectionString: POSTGRES });
    await administrator.connect();
    await administrator.query(statement).finally(() => administrator.end());
  };
  await asAdministrator(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
  onTestFinished(() => asAdministrator(`DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  const run = async (statement: string, parameters: readonly unknown[] = []): Promise<void> => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(statement, [...parameters]).finally(() => client.end());
  };
  for (const statement of tables('BIGSERIAL PRIMARY KEY', 'TIMESTAMPTZ')) await run(statement);
  return {
    url: url.href,
    isText: 'well-formed',
    async add(table, ...rows) {
      for (const { statement, parameters } of inserts(table, rows, (index) => `$${index}`))
        await run(statement, parameters);
    },
    run: (statement) => run(statement),
  };
}
