import Database from 'better-sqlite3';
import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, type MigrateOptions } from '../../server/adapters/prisma/migrate.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { startChild } from './child.js';
import { sqliteFile } from './sqlite-file.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const own = await readdir(join(root, 'prisma', 'sqlite', 'migrations'), { withFileTypes: true }).then((entries) =>
  entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
);

describe('migrations at start', () => {
  let file: Awaited<ReturnType<typeof sqliteFile>>;
  beforeEach(async () => {
    file = await sqliteFile();
  });
  afterEach(() => file.remove());

  const run = (options: Partial<MigrateOptions> = {}): Promise<string[]> =>
    migrate({ url: file.url, clock: systemClock, ids: systemIds, ...options });

  function inspect<T>(work: (database: Database.Database) => T, path = file.path): T {
    const database = new Database(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  }
  const rows = (sql: string, path = file.path): unknown[] => inspect((database) => database.prepare(sql).all(), path);
  const tables = (path = file.path): unknown[] =>
    rows(
      `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`,
      path,
    );

  /** A folder of migrations like prisma's, beside the database. */
  async function directoryOf(migrations: Record<string, string>): Promise<string> {
    const directory = join(dirname(file.path), 'migrations');
    for (const [name, sql] of Object.entries(migrations)) {
      await mkdir(join(directory, name), { recursive: true });
      await writeFile(join(directory, name, 'migration.sql'), sql);
    }
    await writeFile(join(directory, 'migration_lock.toml'), 'provider = "sqlite"\n');
    return directory;
  }

  /** What `work` gives, or the code of SQLite's error. */
  function attempt(work: () => unknown): unknown {
    try {
      return work();
    } catch (error) {
      return error instanceof Database.SqliteError ? error.code : undefined;
    }
  }

  /** The Prisma command line on `url`. */
  const prisma = (url: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(root, 'tools', 'prisma.mjs'), 'sqlite', ...args], {
      env: { ...process.env, DATABASE_URL: url },
    });

  it('applies what is missing, in order, once', async () => {
    expect(await run()).toEqual(own);
    expect(await run()).toEqual([]);
    const directory = await directoryOf({
      '2_b': 'CREATE TABLE b (x INT);',
      '1_a': 'CREATE TABLE a (x INT); INSERT INTO a VALUES (1);',
    });
    const url = `${file.url}.2`;
    expect(await run({ url, directory })).toEqual(['1_a', '2_b']);
    await directoryOf({ '3_c': 'ALTER TABLE a RENAME TO c;' });
    expect(await run({ url, directory })).toEqual(['3_c']);
    expect(rows('SELECT x FROM c', `${file.path}.2`)).toEqual([{ x: 1 }]);
  });

  it('leaves what `prisma migrate deploy` would: the same tables and the same record of them', async () => {
    const other = `${file.path}.deployed`;
    await run();
    await prisma(`file:${other}`, 'migrate', 'deploy');
    expect(tables()).toEqual(tables(other));
    const record =
      'SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count, typeof(started_at) AS time FROM _prisma_migrations';
    expect(rows(record)).toEqual(rows(record, other));
    for (const times of rows('SELECT started_at, finished_at FROM _prisma_migrations') as Record<string, string>[]) {
      for (const time of Object.values(times)) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    }
    // Each finds the other's work done.
    expect((await prisma(file.url, 'migrate', 'status')).stdout).toContain('up to date');
    expect(await run({ url: `file:${other}` })).toEqual([]);
  });

  it('two processes at once: each migration is applied once, and both succeed', async () => {
    const children = [1, 2].map(() => startChild('migrate-child.ts', file.url));
    await Promise.all(children.map((child) => child.until((output) => output.includes(']\n'))));
    const applied = children.map((child) => /\[(.*)\]/.exec(child.output())?.[1] ?? '').filter(Boolean);
    await Promise.all(children.map((child) => child.kill()));
    expect(applied.join(' ').split(' ').sort()).toEqual(own);
    expect(await run()).toEqual([]);
  });

  it('kill -9 in the middle leaves the database as it was, and the next start goes on from there', async () => {
    const slow =
      'INSERT INTO a WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n LIMIT 200000000;';
    const directory = await directoryOf({
      '1_a': 'CREATE TABLE a (x INT);',
      '2_b': `CREATE TABLE b (x INT); ${slow} DROP TABLE a;`,
    });
    const child = startChild('migrate-child.ts', file.url, directory);
    const inTheMiddle = () =>
      inspect((database) => {
        database.pragma('busy_timeout = 0');
        // The first migration is done, and the second holds the lock.
        if (attempt(() => database.prepare('SELECT count(*) FROM _prisma_migrations').pluck().get()) !== 1)
          return false;
        return attempt(() => database.exec('BEGIN IMMEDIATE; ROLLBACK')) === 'SQLITE_BUSY';
      });
    while (!inTheMiddle()) await new Promise((resolve) => setTimeout(resolve, 20));
    await child.kill();

    expect(rows(`SELECT name FROM sqlite_master WHERE name IN ('a', 'b')`)).toEqual([{ name: 'a' }]);
    expect(rows('SELECT count(*) AS n FROM a')).toEqual([{ n: 0 }]);
    await directoryOf({ '2_b': 'CREATE TABLE b (x INT); DROP TABLE a;' });
    expect(await run({ directory })).toEqual(['2_b']);
  });

  it('a migration that fails changes nothing and says so; once it is mended, the start succeeds', async () => {
    const directory = await directoryOf({
      '1_a': 'CREATE TABLE a (x INT);',
      '2_b': 'CREATE TABLE b (x INT); INSERT INTO nowhere VALUES (1);',
    });
    await expect(run({ directory })).rejects.toMatchObject({
      code: 'internal',
      message: 'The migration 2_b failed.',
      cause: { message: 'no such table: nowhere' },
    });
    expect(rows(`SELECT name FROM sqlite_master WHERE name IN ('a', 'b')`)).toEqual([{ name: 'a' }]);
    await directoryOf({ '2_b': 'CREATE TABLE b (x INT);' });
    expect(await run({ directory })).toEqual(['2_b']);
  });

  it('a table that is made anew keeps the rows that refer to it; references that would break are refused', async () => {
    const family = `CREATE TABLE parent (id INT PRIMARY KEY); INSERT INTO parent VALUES (1);
      CREATE TABLE child (parent_id INT REFERENCES parent (id) ON DELETE CASCADE); INSERT INTO child VALUES (1);`;
    const redefine = `PRAGMA defer_foreign_keys=ON; PRAGMA foreign_keys=OFF;
      CREATE TABLE new_parent (id INT PRIMARY KEY, x INT); INSERT INTO new_parent (id) SELECT id FROM parent;
      DROP TABLE parent; ALTER TABLE new_parent RENAME TO parent; PRAGMA foreign_keys=ON; PRAGMA defer_foreign_keys=OFF;`;
    const directory = await directoryOf({ '1_family': family, '2_redefine': redefine });
    await run({ directory });
    expect(rows('SELECT count(*) AS n FROM child')).toEqual([{ n: 1 }]);
    await directoryOf({ '3_break': 'DELETE FROM parent;' });
    await expect(run({ directory })).rejects.toMatchObject({
      code: 'internal',
      message: 'The migration 3_break would break references.',
    });
    expect(rows('SELECT count(*) AS n FROM parent')).toEqual([{ n: 1 }]);
  });

  it('refuses a history that is not its own', async () => {
    const directory = await directoryOf({ '1_a': 'CREATE TABLE a (x INT);' });
    await run({ directory });
    const refused = (message: string) =>
      expect(run({ directory })).rejects.toMatchObject({ code: 'internal', message });
    await directoryOf({ '1_a': 'CREATE TABLE a (y INT);' });
    await refused('The migration 1_a was changed after it was applied.');
    await directoryOf({ '1_a': 'CREATE TABLE a (x INT);' });
    const note = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, rolled_back_at) VALUES`;
    inspect((database) => database.exec(`${note} ('x', 'y', '9_future', 'now', NULL)`));
    await refused('The database is newer than this program: it has 9_future.');
    inspect((database) => database.exec(`UPDATE _prisma_migrations SET finished_at = NULL WHERE id = 'x'`));
    await refused('The migration 9_future failed earlier and has to be resolved.');
    // As `prisma migrate resolve --rolled-back` leaves it.
    inspect((database) => database.exec(`UPDATE _prisma_migrations SET rolled_back_at = 'now' WHERE id = 'x'`));
    expect(await run({ directory })).toEqual([]);
  });

  it('waits for another process that holds the database, but not for ever', async () => {
    await run();
    const directory = await directoryOf({ '1_a': 'CREATE TABLE a (x INT);' });
    const url = `${file.url}.2`;
    const holder = new Database(`${file.path}.2`);
    holder.pragma('journal_mode = WAL');
    holder.exec('BEGIN IMMEDIATE');
    try {
      await expect(run({ url, directory, lockWaitMs: 60 })).rejects.toMatchObject({ code: 'storage_unavailable' });
      const waiting = run({ url, directory });
      await new Promise((resolve) => setTimeout(resolve, 120));
      holder.exec('ROLLBACK');
      expect(await waiting).toEqual(['1_a']);
    } finally {
      holder.close();
    }
  });
});
