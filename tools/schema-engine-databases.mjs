// What tools/schema-engine.mjs needs of each database: a driver adapter with a shadow database, and the three commands
// that work on a database as a whole. Drivers are imported when they are used: a SQLite user has no PostgreSQL driver.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

export const isPostgres = (url) => /^postgres(ql)?:/.test(url);

/**
 * An adapter factory for `provider`; a provider that `url` does not belong to gets an empty database in memory.
 * A `reset` on it takes the place of the engine's own.
 */
export function adapterFactory(provider, url) {
  if (provider === 'postgresql') return postgresFactory(url);
  return sqliteFactory(url && !isPostgres(url) ? url : ':memory:');
}

/**
 * Runs `can-connect-to-database`, `create-database` or `drop-database`.
 * @throws an error with Prisma's code: P1003 no such database, P1001 no connection.
 */
export function administer(command, url) {
  return isPostgres(url) ? administerPostgres(command, url) : administerSqlite(command, url);
}

const failure = (code, message) => Object.assign(new Error(message), { code });

async function sqliteFactory(url) {
  const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3');
  const factory = new PrismaBetterSqlite3({ url });
  // The engine sends whole scripts (a migration to replay, a reset) as one raw command; better-sqlite3 prepares one
  // statement at a time.
  const takingScripts = (connect) => async () => {
    const adapter = await connect();
    const executeRaw = adapter.executeRaw.bind(adapter);
    adapter.executeRaw = async (query) => {
      if (query.args.length > 0) return executeRaw(query);
      await adapter.executeScript(query.sql);
      return 0;
    };
    // A connection that is not closed leaves its rollback journal beside the database.
    process.once('exit', () => void adapter.dispose());
    return adapter;
  };
  const connect = takingScripts(factory.connect.bind(factory));
  factory.connectToShadowDb = takingScripts(factory.connectToShadowDb.bind(factory));
  let connection;
  factory.connect = async () => (connection = await connect());
  // Through an adapter the engine resets SQLite by deleting the rows, those of _prisma_migrations included: what it
  // applies next finds every table there. On the engine's own connection, which may hold the file locked.
  factory.reset = async () => emptySqlite(connection ?? (await factory.connect()));
  return factory;
}

async function emptySqlite(adapter) {
  const { rows } = await adapter.queryRaw({
    // A virtual table first: it takes tables of its own with it.
    sql: `SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          ORDER BY sql LIKE 'CREATE VIRTUAL %' DESC`,
    args: [],
    argTypes: [],
  });
  const drops = rows.map(([type, name]) => `DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}";`);
  await adapter.executeScript(['PRAGMA foreign_keys = OFF;', ...drops, 'PRAGMA foreign_keys = ON;'].join('\n'));
}

async function administerSqlite(command, url) {
  const file = url.replace(/^file:/, '').replace(/\?.*$/, '');
  if (command === 'can-connect-to-database' && !existsSync(file)) {
    throw failure('P1003', `Database ${file} does not exist`);
  }
  if (command === 'create-database') {
    mkdirSync(dirname(file), { recursive: true });
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(file);
    // SQLite writes its file with the first write, not when it is opened.
    database.pragma('user_version = 0');
    database.close();
  }
  if (command === 'drop-database') {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
  }
}

async function postgresFactory(url) {
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { default: pg } = await import('pg');

  /** The adapter maps no "char" (oid 18) and no name (oid 19), which the system catalogue is full of: text will do. */
  class CataloguePool extends pg.Pool {
    async query(...args) {
      const result = await super.query(...args);
      for (const field of result?.fields ?? []) if ([18, 19].includes(field.dataTypeID)) field.dataTypeID = 25;
      return result;
    }
  }
  const factoryOf = (connectionString) =>
    new PrismaPg(new CataloguePool({ connectionString }), { disposeExternalPool: true });

  const factory = factoryOf(url);
  factory.connectToShadowDb = async () => {
    const name = `prisma_shadow_${randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(`CREATE DATABASE "${name}"`);
    const shadowUrl = new URL(url);
    shadowUrl.pathname = `/${name}`;
    const shadow = await factoryOf(shadowUrl.href).connect();
    const dispose = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await dispose();
      await admin.query(`DROP DATABASE "${name}" WITH (FORCE)`);
      await admin.end();
    };
    return shadow;
  };
  return factory;
}

async function administerPostgres(command, url) {
  const { default: pg } = await import('pg');
  const target = new URL(url);
  const name = `"${decodeURIComponent(target.pathname.slice(1)).replaceAll('"', '""')}"`;
  // A database can neither be created nor dropped from inside.
  if (command !== 'can-connect-to-database') target.pathname = '/postgres';
  const client = new pg.Client({ connectionString: target.href });
  try {
    await client.connect();
    if (command === 'create-database') await client.query(`CREATE DATABASE ${name}`);
    if (command === 'drop-database') await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } catch (error) {
    throw failure(error.code === '3D000' ? 'P1003' : 'P1001', error.message);
  } finally {
    await client.end().catch(() => {});
  }
}
