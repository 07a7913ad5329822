import { describe, expect, onTestFinished, test } from 'vitest';
import BetterSqlite3 from 'better-sqlite3';
import { openLegacySource } from '../../server/cli/import/open-legacy-source.js';
import { allMessages } from '../../stores/pages.js';
import { CliProcess } from '../harness/cli-process.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { as, AT, chat, contents, imported, row } from './cli-import-run.js';
import { oldPostgres, oldSqlite, postgresAbsence, type OldDatabase } from './cli-import-tables.js';

const MiB = 1024 * 1024;
const absence = await postgresAbsence();
const sources = [
  { name: 'SQLite', open: oldSqlite, absence: null, bytes: 'BLOB' },
  { name: 'PostgreSQL', open: oldPostgres, absence, bytes: 'BYTEA' },
];

/** Other tables in place of the old ones. */
async function remade(old: OldDatabase, ...statements: readonly string[]): Promise<void> {
  for (const statement of ['DROP TABLE agent_chat', 'DROP TABLE agent_history', ...statements])
    await old.run(statement);
}

for (const source of sources)
  describe.skipIf(source.absence !== null)(
    `turnstream import yao, odd tables of ${source.absence ?? source.name}`,
    () => {
      test('memory holds no more than 16 MiB of rows: they come in loads, and one that is larger is refused unread', async () => {
        const server = await startServer();
        const old = await source.open();
        await old.add('agent_chat', chat('c1'), chat('big', { assistant_id: null }));
        for (const size of [6, 6, 6, 17, 6, 6]) await old.add('agent_history', row('c1', 'x'.repeat(size * MiB)));
        await old.add('agent_history', row('big', 'x'.repeat(17 * MiB)), row('big', 'fits'));
        const legacy = await openLegacySource(old.url);
        onTestFinished(() => legacy.close());
        const loads: (string | null)[][] = [];
        for await (const found of legacy.chats())
          for await (const load of legacy.rows(found)) loads.push(load.map(({ id, unread }) => unread && id));
        expect(loads).toEqual([[null, null], [null], ['4'], [null, null], ['7'], [null]]);
        const { code, outcome, summary } = await imported(server, old.url);
        expect([code, summary]).toMatchObject([1, { chats: { kept: 1, changed: 1 }, rows: { kept: 1, refused: 7 } }]);
        expect(outcome('agent_history', '4')?.reasons).toEqual([
          expect.stringMatching(/^its 178\d{5} bytes are more than the import reads of a row \(16777216\)$/),
        ]);
        expect(await contents(server, 'big')).toEqual(['fits']);
      });

      test('views, whose columns have no types of their own: every row, in order, page after page', async () => {
        const server = await startServer();
        const old = await source.open();
        await old.add('agent_chat', ...Array.from({ length: 201 }, (_, index) => chat(`${index}`)));
        await old.add(
          'agent_history',
          ...Array.from({ length: 250 }, (_, index) => row('7', `${index}`)),
          row('8', 'x'),
        );
        await old.run('ALTER TABLE agent_chat RENAME TO chats');
        await old.run('ALTER TABLE agent_history RENAME TO history');
        const number = (column: string) => `CAST(${column} AS INTEGER) + 0 AS ${column}`;
        await old.run(
          `CREATE VIEW agent_chat AS SELECT id + 0 AS id, ${number('chat_id')}, sid, assistant_id FROM chats`,
        );
        await old.run(
          `CREATE VIEW agent_history AS SELECT id + 0 AS id, ${number('cid')}, sid, role, content, created_at FROM history`,
        );
        const { code, summary } = await imported(server, old.url);
        expect([code, summary]).toMatchObject([0, { rows: { kept: 251 }, messages: { added: 251 } }]);
        expect(await contents(server, '7')).toEqual(Array.from({ length: 250 }, (_, index) => `${index}`));
      });

      test('rows without an id of their own are told before anything is done', async () => {
        const old = await source.open();
        const run = async () => {
          const cli = new CliProcess(['import', 'yao', '--from', old.url]);
          return [await cli.ended(), cli.stderr];
        };
        await remade(
          old,
          'CREATE TABLE agent_chat (id INTEGER, chat_id VARCHAR(200))',
          'CREATE TABLE agent_history (id INTEGER, cid VARCHAR(200), role VARCHAR(20), content TEXT)',
          `INSERT INTO agent_history VALUES (1, 'c', 'user', 'a'), (NULL, 'c', 'user', 'b'), (1, 'c', 'user', 'c')`,
        );
        const told = (of: string) => [1, `turnstream: ${of} have no id of their own: give them one\n`];
        expect(await run()).toEqual(told('2 of the 3 rows of agent_history'));
        await old.run(`INSERT INTO agent_chat VALUES (NULL, 'c')`);
        expect(await run()).toEqual(told('1 of the 1 rows of agent_chat'));
      });

      test('columns of any name and type: times as numbers and texts, JSON as such and as text, bytes', async () => {
        const server = await startServer();
        const old = await source.open();
        const json = source.name === 'SQLite' ? 'TEXT' : 'JSONB';
        await remade(
          old,
          `CREATE TABLE agent_chat (id VARCHAR(40) PRIMARY KEY, chat_id VARCHAR(200), "what?" TEXT, created_at BIGINT)`,
          `CREATE TABLE agent_history (id VARCHAR(40) PRIMARY KEY, cid VARCHAR(200), role VARCHAR(20), content ${source.bytes},
           "select" TEXT, "a ""b"" é?" TEXT, mentions ${json}, assistant_id TEXT, created_at VARCHAR(60))`,
          `INSERT INTO agent_chat VALUES ('k1', 'c1', 'yes', 1762077600)`,
          ...[
            ['r1', '1762077600123'],
            ['r2', '2025-11-02T12:30:00+02:30'],
            ['r3', 'soon'],
          ].map(
            ([id, at]) =>
              `INSERT INTO agent_history VALUES ('${id}', 'c1', 'user', ${source.name === 'SQLite' ? `x'68c3a4'` : `'\\x68c3a4'`},
               's', 'q', '[{"a": 1}]', 'neo', '${at}')`,
          ),
        );
        const { code, outcome, summary } = await imported(server, old.url);
        expect([code, summary]).toMatchObject([0, { rows: { kept: 2, changed: 1 } }]);
        expect(outcome('agent_history', 'r3')?.reasons).toEqual([expect.stringMatching(/created_at is no time/)]);
        expect((await as(server).call('chat:get', { chatId: 'c1' })).chat).toMatchObject({
          createdAt: '2025-11-02T10:00:00.000Z',
          metadata: { yao: { row: { id: 'k1', 'what?': 'yes' } } },
        });
        const messages = await allMessages(as(server), { chatId: 'c1' });
        expect(messages.map(({ props }) => props)).toEqual(Array(3).fill({ content: 'hä' }));
        expect(messages.slice(0, 2).map(({ createdAt }) => createdAt)).toEqual([
          '2025-11-02T10:00:00.123Z',
          '2025-11-02T10:00:00.000Z',
        ]);
        expect(messages[0]?.metadata).toMatchObject({
          yao: { row: { id: 'r1', select: 's', 'a "b" é?': 'q', mentions: [{ a: 1 }] } },
        });
      });

      test('a database that the old system still writes to: what comes later comes with the next run', async () => {
        const server = await startServer();
        const old = await source.open();
        await old.add('agent_chat', chat('c1'));
        const rows = (from: number, to: number) =>
          Array.from({ length: to - from }, (_, at) => row('c1', `${from + at}`));
        await old.add('agent_history', ...rows(0, 1500));
        const run = imported(server, old.url);
        await until(
          async () => (await contents(server, 'c1').catch(() => [])).length > 0,
          'the first messages',
          20_000,
        );
        for (let at = 1500; at < 1600; at += 20) await old.add('agent_history', ...rows(at, at + 20));
        expect((await run).code).toBe(0);
        expect((await imported(server, old.url)).code).toBe(0);
        expect(await contents(server, 'c1')).toEqual(Array.from({ length: 1600 }, (_, index) => `${index}`));
      }, 60_000);
    },
  );

describe.skipIf(absence !== null)(
  `turnstream import yao, a PostgreSQL database that checks no texts ${absence ?? ''}`,
  () => {
    test('bytes that are no text become U+FFFD, and it is told', async () => {
      const server = await startServer();
      const old = await oldPostgres('SQL_ASCII');
      await old.add('agent_chat', chat('c1'));
      await old.add('agent_history', row('c1', 'grün'), row('c1', '?'));
      await old.run(`UPDATE agent_history SET content = convert_from('\\x61ff62', 'SQL_ASCII') WHERE id = 2`);
      const { outcome } = await imported(server, old.url);
      expect(outcome('agent_history', '2')?.reasons).toEqual([expect.stringMatching(/bytes of content .*U\+FFFD/)]);
      expect(await contents(server, 'c1')).toEqual(['grün', 'a\uFFFDb']);
    });
  },
);

describe('turnstream import yao, an SQLite database that somebody has for themselves', () => {
  test('is told in one line', async () => {
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1', { created_at: AT }));
    const other = new BetterSqlite3(old.url.slice('file:'.length));
    onTestFinished(() => void other.close());
    other.exec('BEGIN EXCLUSIVE');
    const cli = new CliProcess(['import', 'yao', '--from', old.url]);
    expect([await cli.ended(), cli.stderr]).toEqual([
      1,
      'turnstream: the old database cannot be read: database is locked\n',
    ]);
  });
});
