import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { POSTGRES_URL } from './services.js';

/** A connection beside those of the store. That the server ends it is nothing to be told. */
export async function connection(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Does something on a connection of its own. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connection(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export interface PostgresDatabase {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

/** The address of a database of its own, which is not there yet and which `remove` drops. */
export function postgresDatabase(server = POSTGRES_URL): PostgresDatabase {
  const name = `turnstream_test_${randomUUID().replaceAll('-', '')}`;
  const address = new URL(server);
  address.pathname = `/${name}`;
  return {
    url: address.href,
    remove: () =>
      connected(server, async (admin) => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}
