import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createChatClient } from '../../client/index.js';
import { CliProcess } from '../harness/cli-process.js';
import { ServerProcess } from '../harness/server-process.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { chat, contents, contentsFor, imported, MAIN, row } from './cli-import-run.js';
import { oldSqlite } from './cli-import-tables.js';

describe('turnstream import yao: edges', () => {
  test('bytes of SQLite that are no text, NULs and blobs become U+FFFD, and it is told; the old file stays as it is', async () => {
    const server = await startServer();
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1', { title: 'a\0b' }));
    await old.add('agent_history', row('c1', 'a\0b'), row('c1', null), row('c1', 'fine', { name: 'n\0' }));
    await old.run(`UPDATE agent_history SET content = CAST(x'61ff62' AS TEXT) WHERE id = 2`);
    await old.run(
      `INSERT INTO agent_history (sid, cid, role, content, created_at) VALUES ('u1', 'c1', 'user', 42, 1762077600)`,
    );
    const bytes = readFileSync(old.url.slice('file:'.length));
    const { code, summary } = await imported(server, old.url);
    expect([code, summary]).toMatchObject([0, { chats: { changed: 1 }, rows: { changed: 3, kept: 1 } }]);
    expect(await contents(server, 'c1')).toEqual(['a\uFFFDb', 'a\uFFFDb', 'fine', '42']);
    expect(readFileSync(old.url.slice('file:'.length))).toEqual(bytes);
  });

  test('a row of more than one command can carry is divided; with less room, more commands', async () => {
    const server = await startServer({ env: { MAX_FRAME_BYTES: '16384', MAX_MESSAGE_BYTES: '8192' } });
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1'));
    const parts = Array.from({ length: 30 }, (_, index) => ({ type: 'text', text: `${index} ${'x'.repeat(1000)}` }));
    await old.add('agent_history', row('c1', JSON.stringify(parts)), row('c1', 'y'.repeat(10_000)), row('c1', 'z'));
    const big = [...parts.slice(0, 10), { type: 'text', text: 'y'.repeat(10_000) }];
    await old.add('agent_history', row('c1', JSON.stringify(big)));
    const { code, outcome, summary } = await imported(server, old.url);
    expect([code, summary]).toMatchObject([1, { rows: { kept: 2, refused: 2 }, messages: { added: 41 } }]);
    expect(outcome('agent_history', '2')?.reasons).toEqual([expect.stringMatching(/maxMessageBytes/)]);
    expect(outcome('agent_history', '4')?.reasons?.[1]).toBe('10 of its 11 messages are here');
    const texts = parts.map(({ text }) => text);
    expect(await contents(server, 'c1')).toEqual([...texts, 'z', ...texts.slice(0, 10)]);
  });

  test('a server that asks for a token, and one that lets so few commands through that some have to wait', async () => {
    const token = await tokenFor({ userId: 'ann' });
    const server = await startServer({ env: { ...JWT_ENV, RATE_LIMIT_PER_SECOND: '2' } });
    const old = await oldSqlite();
    await old.add('agent_chat', ...Array.from({ length: 12 }, (_, index) => chat(`c${index}`)));
    await old.add('agent_history', ...Array.from({ length: 12 }, (_, index) => row(`c${index}`, 'hi')));
    const without = new CliProcess(['import', 'yao', '--from', old.url, '--url', server.url]);
    expect([await without.ended(), without.stderr]).toEqual([1, 'turnstream: A token is needed.\n']);
    expect(await imported(server, old.url, '--token', token)).toMatchObject({
      code: 0,
      summary: { rows: { kept: 12 }, messages: { added: 12 } },
    });
  }, 60_000);

  test.each([
    [['import'], 2, /import needs SYSTEM/],
    [['import', 'wao', '--from', 'file:x'], 2, /no import from wao/],
    [['import', 'yao'], 2, /needs --from/],
    [['import', 'yao', '--from', 'mysql://h/d'], 2, /--from needs file:/],
    [['import', 'yao', '--from', 'file:/nowhere/old.db'], 1, /\/nowhere\/old\.db cannot be read/],
    [['import', 'yao', '--from', `file:${MAIN}`], 1, /cannot be read: file is not a database/],
    [['import', 'yao', '--from', 'postgresql://u:secret@127.0.0.1:1/d'], 1, /cannot be read: .*ECONNREFUSED/],
  ])('%j is told in one line', async (args, code, reason) => {
    const cli = new CliProcess(args);
    expect(await cli.ended()).toBe(code);
    expect(cli.stderr).toMatch(/^turnstream: [^\n]+\n$/);
    expect(cli.stderr).toMatch(reason);
    expect(cli.stderr + cli.stdout).not.toContain('secret');
  });

  test('no server answers: one line, and nothing is left open', async () => {
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1'));
    const cli = new CliProcess(['import', 'yao', '--from', old.url, '--url', 'http://127.0.0.1:1']);
    expect([await cli.ended(), cli.stderr]).toEqual([
      1,
      'turnstream: no server answers at http://127.0.0.1:1; is it running?\n',
    ]);
  });

  test('the server is killed in the middle and comes back: the import waits and goes on, every row once', async () => {
    const server = await new ServerProcess().start();
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1'));
    const count = 3000;
    await old.add('agent_history', ...Array.from({ length: count }, (_, index) => row('c1', `${index}`)));
    const client = createChatClient({ url: server.url, auth: { userId: 'ann' } });
    onTestFinished(() => client.close());
    const run = imported(server, old.url);
    const there = async () => (await contentsFor(client, 'c1').catch(() => [])).length;
    await until(async () => (await there()) > 200, 'the first messages', 20_000);
    await server.kill();
    await server.start();
    const { code, stderr, summary } = await run;
    expect(stderr).toMatch(/the connection is lost; trying again\n.*connected again/);
    expect([code, summary]).toMatchObject([0, { rows: { kept: count }, messages: { added: count, present: 0 } }]);
    expect(await contentsFor(client, 'c1')).toEqual(Array.from({ length: count }, (_, index) => `${index}`));
  }, 60_000);

  test('rows that cannot be reached are counted, and told', async () => {
    const server = await startServer();
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1'), chat('broken'));
    await old.add('agent_history', row('c1', 'one'), row('broken', 'two'));
    for (const [table, column] of [
      ['agent_chat', 'chat_id'],
      ['agent_history', 'cid'],
    ])
      await old.run(`UPDATE ${table} SET ${column} = CAST(x'61ff' AS TEXT) WHERE ${column} = 'broken'`);
    const { code, stderr, lines } = await imported(server, old.url);
    expect([code, stderr]).toEqual([1, 'turnstream: 1 rows of agent_history were not reached: run it again\n']);
    expect(lines.at(-1)).toMatchObject({ missed: 1, summary: { rows: { kept: 1 } } });
  });
});
