import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, type MigrateOptions } from '../../server/adapters/prisma/migrate.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { connected, postgresDatabase, type PostgresDatabase } from '../harness/postgres-database.js';
import { describeOnPostgres, POSTGRES_URL } from '../harness/services.js';
import { until } from '../harness/until.js';
import { startChild } from './child.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const own = await readdir(join(root, 'prisma', 'postgresql', 'migrations'), { withFileTypes: true }).then((entries) =>
  entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
);

describeOnPostgres('migrations at start, on PostgreSQL', { timeout: 60_000 }, () => {
  let database: PostgresDatabase;
  let directory: string;
  beforeEach(async () => {
    database = postgresDatabase();
    directory = await mkdtemp(join(tmpdir(), 'turnstream-migrations-'));
  });
  afterEach(async () => {
    await database.remove();
    await rm(directory, { recursive: true });
  });

  const run = (options: Partial<MigrateOptions> = {}): Promise<string[]> =>
    migrate({ url: database.url, clock: systemClock, ids: systemIds, ...options });
  const rows = (sql: string, url = database.url): Promise<unknown[]> =>
    connected(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);

  /** Adds to the folder of migrations, or changes in it. */
  async function write(migrations: Record<string, string>): Promise<void> {
    for (const [name, sql] of Object.entries(migrations)) {
      await mkdir(join(directory, name), { recursive: true });
      await writeFile(join(directory, name, 'migration.sql'), sql);
    }
  }

  /** The Prisma command line on the database. */
  const prisma = async (url: string, ...args: string[]): Promise<string> => {
    const command = [join(root, 'tools', 'prisma.mjs'), 'postgresql', ...args];
    return (await promisify(execFile)(process.execPath, command, { env: { ...process.env, DATABASE_URL: url } }))
      .stdout;
  };

  it('makes the database where it is missing, and applies what is missing in it, in order, once', async () => {
    await write({ '2_b': 'CREATE TABLE b (x INT);', '1_a': 'CREATE TABLE a (x INT); INSERT INTO a VALUES (1);' });
    expect(await run({ directory })).toEqual(['1_a', '2_b']);
    expect(await run({ directory })).toEqual([]);
    await write({ '3_c': 'ALTER TABLE a RENAME TO c;' });
    expect(await run({ directory })).toEqual(['3_c']);
    expect(await rows('SELECT x FROM c')).toEqual([{ x: 1 }]);
  });

  it('who may not make a database is told that it is missing', async () => {
    const user = `guest_${database.url.slice(-12)}`;
    await rows(`CREATE ROLE ${user} LOGIN`, POSTGRES_URL);
    const url = new URL(database.url);
    url.username = user;
    try {
      await expect(run({ url: url.href })).rejects.toMatchObject({
        code: 'storage_unavailable',
        cause: { code: '3D000' },
      });
    } finally {
      await rows(`DROP ROLE ${user}`, POSTGRES_URL);
    }
  });

  it('leaves what `prisma migrate deploy` would, and no drift from the models', async () => {
    const other = postgresDatabase();
    try {
      expect(await run()).toEqual(own);
      await prisma(other.url, 'migrate', 'deploy');
      const columns = `SELECT table_name, column_name, data_type, column_default, is_nullable, collation_name, datetime_precision
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`;
      expect(await rows(columns)).toEqual(await rows(columns, other.url));
      const indexes = `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`;
      expect(await rows(indexes)).toEqual(await rows(indexes, other.url));
      const record =
        'SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count FROM _prisma_migrations ORDER BY 1';
      expect(await rows(record)).toEqual(await rows(record, other.url));
      expect(await prisma(database.url, 'migrate', 'status')).toContain('up to date');
      // Exit code 2, and with it a rejection, where there is a difference.
      const models = ['--to-schema', join('prisma', 'postgresql')];
      await prisma(database.url, 'migrate', 'diff', '--exit-code', '--from-config-datasource', ...models);
      expect(await run({ url: other.url })).toEqual([]);
    } finally {
      await other.remove();
    }
  });

  it('ten processes at once on a database that is not there: each migration is applied once, and all succeed', async () => {
    const children = Array.from({ length: 10 }, () => startChild('migrate-child.ts', database.url));
    await Promise.all(children.map((child) => child.until((output) => output.includes(']\n'))));
    const applied = children.map((child) => /\[(.*)\]/.exec(child.output())?.[1] ?? '').filter(Boolean);
    await Promise.all(children.map((child) => child.kill()));
    expect(applied.join(' ').split(' ').sort()).toEqual(own);
  });

  it('kill -9 in the middle leaves the database as it was, and the next start goes on from there', async () => {
    await write({
      '1_a': 'CREATE TABLE a (x INT);',
      '2_b': 'CREATE TABLE b (x INT); SELECT pg_sleep(600); DROP TABLE a;',
    });
    const child = startChild('migrate-child.ts', database.url, directory);
    const sleeping = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    await until(async () => (await rows(sleeping).catch(() => [])).length > 0, 'the second migration', 30_000);
    await child.kill();
    await write({ '2_b': 'CREATE TABLE b (x INT); DROP TABLE a;' });
    expect(await run({ directory })).toEqual(['2_b']);
    expect(await rows(`SELECT tablename FROM pg_tables WHERE tablename IN ('a', 'b')`)).toEqual([{ tablename: 'b' }]);
  });

  it('a migration that fails changes nothing and says so; once it is mended, the start succeeds', async () => {
    await write({ '1_a': 'CREATE TABLE a (x INT);', '2_b': 'CREATE TABLE b (x INT); INSERT INTO nowhere VALUES (1);' });
    await expect(run({ directory })).rejects.toMatchObject({
      code: 'internal',
      message: 'The migration 2_b failed.',
      cause: { message: 'relation "nowhere" does not exist' },
    });
    expect(await rows(`SELECT tablename FROM pg_tables WHERE tablename IN ('a', 'b')`)).toEqual([{ tablename: 'a' }]);
    await write({ '2_b': 'CREATE TABLE b (x INT);' });
    expect(await run({ directory })).toEqual(['2_b']);
  });

  it('refuses a history that is not its own', async () => {
    await write({ '1_a': 'CREATE TABLE a (x INT);' });
    await run({ directory });
    const refused = (message: string) =>
      expect(run({ directory })).rejects.toMatchObject({ code: 'internal', message });
    await write({ '1_a': 'CREATE TABLE a (y INT);' });
    await refused('The migration 1_a was changed after it was applied.');
    await write({ '1_a': 'CREATE TABLE a (x INT);' });
    await rows(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'y', '9', now())`,
    );
    await refused('The database is newer than this program: it has 9.');
    await rows(`UPDATE _prisma_migrations SET finished_at = NULL WHERE id = 'x'`);
    await refused('The migration 9 failed earlier and has to be resolved.');
    // As `prisma migrate resolve --rolled-back` leaves it.
    await rows(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = 'x'`);
    expect(await run({ directory })).toEqual([]);
  });

  it('a server that is not there is storage_unavailable, at once', async () => {
    await expect(run({ url: 'postgresql://postgres@127.0.0.1:1/x' })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });
});
