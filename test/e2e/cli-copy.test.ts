import { describe, expect, test } from 'vitest';
import { Person } from '../harness/person.js';
import { PostgresBeside } from '../harness/postgres-beside.js';
import { connected } from '../harness/postgres-database.js';
import { ServerProcess } from '../harness/server-process.js';
import { describeOnPostgres, POSTGRES_URL } from '../harness/services.js';
import { SqliteBeside } from '../harness/sqlite-beside.js';
import type { StoreBeside } from '../harness/store-beside.js';
import { until } from '../harness/until.js';
import { CliProcess } from '../harness/cli-process.js';
import {
  changed,
  copied,
  fill,
  histories,
  newFolder,
  newPostgres,
  serverOn,
  TABLES,
  type Folder,
} from './cli-copy-scene.js';

/** Every row with every column, as values that both databases have. */
const rowsIn = (beside: StoreBeside) =>
  Promise.all(
    TABLES.map(async (table) =>
      (await beside.rows(`SELECT * FROM ${table} ORDER BY id`)).map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
        ),
      ),
    ),
  );

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** A data directory that a server has filled and left. */
async function leftBehind(messages?: number): Promise<Folder> {
  const folder = newFolder();
  const server = await serverOn(folder.url, folder.dataDir);
  await fill(server, messages);
  await server.drain();
  return folder;
}

describeOnPostgres('turnstream copy', { timeout: 90_000 }, () => {
  test('to PostgreSQL: every row of every table, and a server on the copy answers as before and goes on', async () => {
    const folder = newFolder();
    const server = await serverOn(folder.url, folder.dataDir);
    await fill(server);
    const before = await histories(server);
    await server.drain();
    const url = newPostgres();
    const first = await copied(folder.url, url);
    expect([first.code, first.stderr]).toEqual([0, '']);
    const rows = await rowsIn(new SqliteBeside(folder.path));
    expect(await rowsIn(new PostgresBeside(url))).toEqual(rows);
    for (const [index, table] of TABLES.entries()) {
      const { length } = rows[index]!;
      expect(length).toBeGreaterThan(0);
      expect(first.stdout).toContain(`${table}: ${length} rows are the same, ${length} of them new; 0 are not\n`);
    }
    expect(first.stdout).toMatch(/all rows are the same\n$/);

    const on = await serverOn(url);
    expect(await histories(on)).toEqual(before);
    const person = await new Person(on.url, { userId: 'ann' }).open();
    await person.follow('c0');
    const known = await person.do<{ turns: { requestId: string }[] }>('turn:list', { chatId: 'c0' });
    const { turn, messages } = await person.start('c0', 'after the move');
    await person.ended('c0', turn.requestId);
    expect(messages[0]?.sequence).toBe(Math.max(...before[0]!.histories[0]!.messages.map((m) => m.sequence), 0) + 1);
    expect((await person.do<typeof known>('turn:list', { chatId: 'c0' })).turns.map((t) => t.requestId)).toEqual([
      turn.requestId,
      ...known.turns.map((t) => t.requestId),
    ]);
  });

  test('again: nothing is new, and nothing is changed', async () => {
    const { url: from } = await leftBehind();
    const to = newPostgres();
    await copied(from, to);
    const versions = () =>
      Promise.all(TABLES.map((t) => new PostgresBeside(to).rows(`SELECT id, xmin::text FROM ${t} ORDER BY id`)));
    const before = await versions();
    const second = await copied(from, to);
    expect([second.code, second.stderr]).toEqual([0, '']);
    expect(second.stdout.match(/, 0 of them new; 0 are not/g)).toHaveLength(TABLES.length);
    expect(await versions()).toEqual(before);
  });

  test.each(['killed', 'cut off'])('%s in the middle of a table, it goes on there', async (how) => {
    const { url: from, path } = await leftBehind(180);
    const to = newPostgres();
    expect(await new CliProcess(['migrate'], { DATABASE_URL: to }).ended()).toBe(0);
    await connected(to, async (client) => {
      await client.query(`
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
        CREATE TRIGGER waiting BEFORE INSERT ON agent_message FOR EACH ROW WHEN (NEW.id = 1200) EXECUTE FUNCTION wait();
        SELECT pg_advisory_lock(1)`);
      const stopped = new CliProcess(['copy', '--from', from, '--to', to]);
      const isWaiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
      await until(async () => (await client.query(isWaiting)).rowCount, 'the copy at row 1200');
      if (how === 'killed') stopped.kill();
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'turnstream copy'`;
      if (how === 'cut off') await client.query(cut);
      expect(await stopped.ended()).toBe(how === 'killed' ? null : 1);
      if (how === 'cut off') expect(stopped.stderr).toMatch(/^turnstream: [^\n]+\n$/);
      await client.query(cut);
      await client.query('DROP FUNCTION wait CASCADE');
    });
    const counts = () =>
      new PostgresBeside(to).rows('SELECT count(*) AS n FROM agent_message UNION ALL SELECT count(*) FROM agent_chat');
    expect(await counts()).toEqual([{ n: 1000 }, { n: 0 }]);
    const second = await copied(from, to);
    expect([second.code, second.stderr]).toEqual([0, '']);
    const rows = await rowsIn(new SqliteBeside(path));
    expect(second.stdout).toContain(`${rows[1]!.length - 1000} of them new`);
    expect(await rowsIn(new PostgresBeside(to))).toEqual(rows);
  });

  test('and back to SQLite: the same rows as in the beginning', async () => {
    const { url: from, path } = await leftBehind();
    const [to, back] = [newPostgres(), newFolder()];
    expect((await copied(from, to)).code).toBe(0);
    const { code, stderr } = await copied(to, back.url);
    expect([code, stderr]).toEqual([0, '']);
    expect(await rowsIn(new SqliteBeside(back.path))).toEqual(await rowsIn(new SqliteBeside(path)));
    expect((await copied(back.url, to)).stdout).toMatch(/all rows are the same\n$/);
  });

  test('a new database that holds other rows is refused, and left as it is', async () => {
    const { url: from } = await leftBehind(1);
    const to = newPostgres();
    await copied(from, to);
    for (const [change, sentence] of [
      ["UPDATE agent_chat SET title = 'another' WHERE id = 2", 'agent_chat 2 differs in title'],
      [
        'UPDATE agent_chat SET deleted_at = updated_at, sort = 5 WHERE id = 1',
        'agent_chat 1 differs in deleted_at, sort',
      ],
      [`UPDATE agent_message SET props = '{"content": 1}' WHERE id = 3`, 'agent_message 3 differs in props'],
      ['UPDATE agent_step SET id = 100000 WHERE id = 4', 'agent_step 100000 is not in the database copied from'],
    ] as const) {
      const other = newPostgres();
      await connected(POSTGRES_URL, (admin) => admin.query(`CREATE DATABASE ${nameOf(other)} TEMPLATE ${nameOf(to)}`));
      await connected(other, (client) => client.query(`${change}; DELETE FROM agent_revocation`));
      const before = await rowsIn(new PostgresBeside(other));
      const { code, stdout, stderr } = await copied(from, other);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toBe(
        `turnstream: the database to copy to holds other rows, nothing was changed: ${sentence}; copy into a new one\n`,
      );
      expect(await rowsIn(new PostgresBeside(other))).toEqual(before);
    }
  });

  test('DAT-1: what PostgreSQL cannot hold is named and left out, all else is there; mended, it follows', async () => {
    const { url: from, path } = await leftBehind();
    changed(path, [
      "UPDATE agent_message SET type = 'te' || char(0) || 'xt' WHERE id = 5",
      `UPDATE agent_message SET props = '{"content":"\\ud800"}' WHERE id = 6`,
      "UPDATE agent_message SET type = CAST(x'74eda080' AS TEXT) WHERE id = 7",
      "UPDATE agent_turn SET status = 'asleep' WHERE id = 3",
      "UPDATE agent_turn SET created_at = 'long ago' WHERE id = 5",
    ]);
    const to = newPostgres();
    const { code, stdout, stderr } = await copied(from, to);
    expect(code).toBe(1);
    expect(stdout).not.toContain('all rows are the same');
    expect(stderr.replace(/: (?=invalid|unsup).*/g, ': …')).toBe(
      [
        'agent_turn 3 is missing: …',
        'agent_turn 5 is missing: created_at is no time',
        'agent_message 5 is missing: …',
        'agent_message 6 is missing: …',
        'agent_message 7 is missing: type is no UTF-8',
        '',
      ]
        .map((line) => (line === '' ? line : `turnstream: ${line}`))
        .join('\n'),
    );
    const there = (await rowsIn(new PostgresBeside(to)))[1]!.map(({ id }) => id);
    const all = (await rowsIn(new SqliteBeside(path)))[1]!.map(({ id }) => id);
    expect(there).toEqual(all.filter((id) => ![5, 6, 7].includes(id as number)));

    changed(path, [
      `UPDATE agent_message SET type = 'text', props = '{}' WHERE id IN (5, 6, 7)`,
      `UPDATE agent_turn SET status = 'failed', created_at = '2026-11-30T10:00:00.000+00:00' WHERE id IN (3, 5)`,
    ]);
    expect(await copied(from, to)).toMatchObject({ code: 0, stderr: '' });
    expect(await rowsIn(new PostgresBeside(to))).toEqual(await rowsIn(new SqliteBeside(path)));
  });
});

describeOnPostgres('turnstream copy is refused', { timeout: 90_000 }, () => {
  const refused = async (from: string, to: string, env?: Record<string, string>) => {
    const { code, stdout, stderr } = await copied(from, to, env);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };

  test('while a server uses the database to copy from, in its data directory or out of it, or that to copy to', async () => {
    const [here, there] = [newFolder(), newFolder()];
    const [used, free] = [newPostgres(), newPostgres()];
    await new ServerProcess({ DATABASE_URL: here.url }, here.dataDir).start();
    expect(await refused(here.url, free)).toMatch(
      /^turnstream: The data directory .+ is in use by another server\.\n$/,
    );
    await new ServerProcess({ DATABASE_URL: there.url }).start();
    expect(await refused(there.url, free)).toMatch(
      /^turnstream: the database file:.+ cannot be opened: another program uses it\n$/,
    );
    const server = await new ServerProcess({ DATABASE_URL: used }).start();
    const { url: left } = await leftBehind(1);
    expect(await refused(left, used)).toMatch(/ cannot be opened: a server uses it; stop it first\n$/);
    expect(await refused(used, newFolder().url)).toMatch(/ cannot be opened: a server uses it; stop it first\n$/);
    await server.signal('SIGTERM');
    expect((await copied(left, used)).code).toBe(0);
  });

  test('while the journal alone has a turn, until a server has stored it', async () => {
    const folder = newFolder();
    const server = new ServerProcess({ DATABASE_URL: folder.url }, folder.dataDir);
    const person = await new Person((await server.start()).url).open();
    const chatId = await person.createChat();
    const chat = await person.follow(chatId);
    const { turn } = await person.start(chatId, 'word '.repeat(1000), { metadata: { delayMs: 5 } });
    await until(() => chat.text(turn.requestId).length > 20, 'some words');
    await server.kill();
    const to = newPostgres();
    expect(await refused(folder.url, to)).toMatch(
      /^turnstream: turns \(1\) are in the journal of .+ only: start its server once more/,
    );
    // Also where the database lies elsewhere than the journal.
    expect(await refused(newFolder().url, to, { DATA_DIR: folder.dataDir })).toMatch(/turns \(1\) are in the journal/);
    await server.start();
    await server.signal('SIGTERM');
    expect(await copied(folder.url, to)).toMatchObject({ code: 0, stderr: '' });
    const [stored] = await new PostgresBeside(to).rows('SELECT props FROM agent_message ORDER BY id DESC LIMIT 1');
    expect(stored?.['props']).toMatchObject({ content: expect.stringMatching(/^word word/) as string });
  });

  test('where the database to copy from is none, or of another version', async () => {
    const { url, path } = await leftBehind(1);
    const to = newPostgres();
    expect(await refused(`${url}.nowhere`, to)).toMatch(/turnstream.db.nowhere cannot be opened: /);
    changed(path, ["DELETE FROM _prisma_migrations WHERE migration_name LIKE '%revocations'"]);
    expect(await refused(url, to)).toMatch(/ cannot be opened: it lacks \d+_revocations: .+ run turnstream migrate\n$/);
  });
});

describe('turnstream copy', () => {
  test.each([
    [['--from', 'file:a.db'], 'copy needs --to file:/path/name.db or postgresql://user@host/name'],
    [['--to', 'file:a.db'], 'copy needs --from file:/path/name.db or postgresql://user@host/name'],
    [
      ['--from', 'mysql://x/y', '--to', 'file:a.db'],
      'copy needs --from file:/path/name.db or postgresql://user@host/name',
    ],
    [['--from', 'file:a.db', '--to', 'file:a.db'], 'copy needs two databases'],
  ])('%j is misunderstood in one line, 2', async (args, sentence) => {
    const cli = new CliProcess(['copy', ...args]);
    expect([await cli.ended(), cli.stderr]).toEqual([2, `turnstream: ${sentence}\n`]);
  });
});
