import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { allMessages } from '../../stores/pages.js';
import { CliProcess } from '../harness/cli-process.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { as, AT, chat, contents, imported, MAIN, row } from './cli-import-run.js';
import { oldPostgres, oldSqlite, postgresAbsence } from './cli-import-tables.js';

const absence = await postgresAbsence();
const sources = [
  { name: 'SQLite', open: oldSqlite, absence: null },
  { name: 'PostgreSQL', open: oldPostgres, absence },
];

for (const source of sources)
  describe.skipIf(source.absence !== null)(`turnstream import yao, from ${source.absence ?? source.name}`, () => {
    test('chats and messages, in order, with types, times and what the old rows held; a second run adds nothing', async () => {
      const server = await startServer();
      const old = await source.open();
      await old.add(
        'agent_chat',
        chat('c1', { title: 'First', updated_at: AT }),
        chat('c2', { assistant_id: 'trinity' }),
      );
      await old.add(
        'agent_history',
        row('c1', 'hello'),
        row('c2', 'elsewhere'),
        row(
          'c1',
          JSON.stringify([
            { type: 'think', text: 'hm' },
            { type: 'text', text: 'hi', id: 'M1' },
          ]),
          {
            role: 'assistant',
            assistant_id: 'neo',
            assistant_name: 'Neo',
            context: '{"silent":false}',
            created_at: '2025-11-02 18:00:01.5+08:00',
          },
        ),
        row('c1', '{"sum":3}', { role: 'tool', name: 'add' }),
        row('c1', JSON.stringify({ text: 'see', attachments: [{ url: '/f', content_type: 'image/png' }] })),
        row('c1', 'be brief', { role: 'system', created_at: '2020-01-01 00:00:00+00:00' }),
      );
      const first = await imported(server, old.url);
      expect([first.code, first.stderr]).toEqual([0, '']);
      expect(first.summary).toEqual({
        chats: { kept: 2, changed: 0, refused: 0 },
        rows: { kept: 6, changed: 0, refused: 0 },
        messages: { added: 8, present: 0 },
      });
      expect(first.stdout).toMatch(/owner: ann .*\(1\)/);
      expect((await as(server).call('chat:get', { chatId: 'c1' })).chat).toMatchObject({
        title: 'First',
        assistantId: 'neo',
        createdBy: 'ann',
        createdAt: '2025-11-02T10:00:00.000Z',
        metadata: { yao: { row: { id: '1', sid: 'u1' } } },
      });
      const messages = await allMessages(as(server), { chatId: 'c1' });
      expect(messages.map(({ role, type, props, sequence }) => [sequence, role, type, props])).toEqual([
        [1, 'user', 'text', { content: 'hello' }],
        [2, 'assistant', 'thinking', { content: 'hm' }],
        [3, 'assistant', 'text', { content: 'hi' }],
        [4, 'assistant', 'tool_call', { tool: 'add', state: 'completed', output: { sum: 3 } }],
        [5, 'user', 'text', { content: 'see' }],
        [6, 'user', 'image', { url: '/f', mediaType: 'image/png' }],
        [7, 'assistant', 'text', { content: 'be brief' }],
      ]);
      expect(messages[1]).toMatchObject({
        assistantId: 'neo',
        createdAt: '2025-11-02T10:00:01.500Z',
        metadata: { yao: { part: 1, parts: 2, row: { assistant_name: 'Neo', context: { silent: false }, uid: 'u1' } } },
      });
      expect(messages[2]?.metadata).toEqual({ yao: { part: 2, parts: 2, row: { id: '3' }, rest: { id: 'M1' } } });
      expect(messages[3]?.metadata).toMatchObject({ role: 'tool' });
      expect(messages[6]).toMatchObject({ metadata: { role: 'system' }, createdAt: '2020-01-01T00:00:00.000Z' });
      expect(await contents(server, 'c2')).toEqual(['elsewhere']);

      await old.add('agent_history', row('c1', 'later'));
      const second = await imported(server, old.url);
      expect([second.code, second.summary]).toMatchObject([0, { messages: { added: 1, present: 8 } }]);
      expect((await allMessages(as(server), { chatId: 'c1' })).slice(0, 7)).toEqual(messages);
      expect((await contents(server, 'c1')).at(-1)).toBe('later');
    });

    test('killed in the middle, with no warning, and run again: every row once, in order', async () => {
      const server = await startServer();
      const old = await source.open();
      const names = ['c1', 'c2', 'c3'];
      await old.add('agent_chat', ...names.map((name) => chat(name)));
      const count = 4500;
      await old.add(
        'agent_history',
        ...Array.from({ length: count }, (_, index) => row(names[index % 3] ?? null, `${index}`)),
      );
      const there = async (): Promise<number> => {
        const lists = names.map((chatId) => contents(server, chatId).catch(() => []));
        return (await Promise.all(lists)).flat().length;
      };
      for (const least of [1, 1800]) {
        const child = spawn(process.execPath, [
          MAIN,
          'import',
          'yao',
          '--from',
          old.url,
          '--url',
          server.url,
          '--user',
          'ann',
        ]);
        onTestFinished(() => void child.kill('SIGKILL'));
        await until(async () => (await there()) >= least, `the first ${least} messages`, 20_000);
        child.kill('SIGKILL');
        await once(child, 'close');
        expect(await there(), 'killed in the middle').toBeLessThan(count);
      }
      const before = await there();
      const { code, summary } = await imported(server, old.url);
      expect([code, summary]).toEqual([
        0,
        {
          chats: { kept: 3, changed: 0, refused: 0 },
          rows: { kept: count, changed: 0, refused: 0 },
          messages: { added: count - before, present: before },
        },
      ]);
      for (const [place, chatId] of names.entries())
        expect(await contents(server, chatId)).toEqual(
          Array.from({ length: count / 3 }, (_, index) => `${index * 3 + place}`),
        );
    }, 90_000);

    test('Ctrl-C ends it in one line, with 130, and it goes on later', async () => {
      const server = await startServer();
      const old = await source.open();
      await old.add('agent_chat', chat('c1'));
      await old.add('agent_history', ...Array.from({ length: 3000 }, (_, index) => row('c1', `${index}`)));
      const cli = new CliProcess(['import', 'yao', '--from', old.url, '--url', server.url, '--user', 'ann']);
      await until(async () => (await contents(server, 'c1').catch(() => [])).length > 0, 'the first messages', 20_000);
      cli.interrupt();
      expect([await cli.ended(), cli.stderr]).toEqual([
        130,
        'turnstream: stopped before the end; the same command goes on\n',
      ]);
      expect((await imported(server, old.url)).code).toBe(0);
      expect(await contents(server, 'c1')).toHaveLength(3000);
    }, 60_000);

    test('rows that cannot come as they are: each is changed or refused with its reason, and the others are there', async () => {
      const server = await startServer();
      await as(server, 'bob').call('chat:create', { chatId: 'bobs', assistantId: 'echo' });
      const old = await source.open();
      await old.add('agent_chat', chat('c1'), chat('bobs'), chat('no id!', { assistant_id: null, silent: true }));
      await old.add(
        'agent_history',
        row('c1', 'one'),
        row('c1', 'x'.repeat(1024 * 1024)),
        row('c1', '{"half'),
        row('c1', null),
        row('bobs', 'in a chat of bob’s'),
        row('no id!', 'two', { silent: true }),
        row('lost', 'three', { expired_at: AT }),
        row(null, 'four'),
        row('c1', 'five', { sid: 'somebody else' }),
        row('c1', '{"type":"text","text":"a\\u0000\\ud800b"}'),
        row('c1', 'six'),
      );
      const { code, outcome, stdout, summary } = await imported(server, old.url);
      expect(code).toBe(1);
      expect(summary).toMatchObject({
        chats: { kept: 1, changed: 4, refused: 1 },
        rows: { kept: 4, changed: 5, refused: 2 },
      });
      const reason = (id: number) => [
        outcome('agent_history', `${id}`)?.outcome,
        outcome('agent_history', `${id}`)?.reasons?.join(),
      ];
      expect(reason(2)).toEqual(['refused', expect.stringMatching(/larger than .*1048576/)]);
      expect(reason(3)).toEqual(['changed', expect.stringMatching(/looks like JSON/)]);
      expect(reason(4)).toEqual(['changed', expect.stringMatching(/says nothing/)]);
      expect(reason(5)).toEqual(['refused', 'its chat was refused']);
      expect(reason(6)).toEqual(['changed', expect.stringMatching(/silent/)]);
      expect(reason(7)).toEqual(['changed', expect.stringMatching(/expired/)]);
      expect(reason(10)).toEqual(['changed', expect.stringMatching(/U\+FFFD/)]);
      expect(outcome('agent_chat', '2')?.reasons).toEqual([expect.stringMatching(/conflict/)]);
      expect(stdout).toMatch(/^refused agent_chat 2 of bobs: /m);
      expect(stdout).toMatch(/^changed agent_history 3 of c1: /m);
      expect(await contents(server, 'c1')).toEqual(['one', '{"half', '', 'a\uFFFD\uFFFDb', 'six']);
      expect(await contents(server, 'lost')).toEqual(['three']);
      const { data } = await as(server).call('chat:list', {});
      const texts = await Promise.all(data.map(({ chatId }) => contents(server, chatId)));
      const there = ['', 'a\uFFFD\uFFFDb', 'five', 'four', 'one', 'six', 'three', 'two', '{"half'];
      expect(texts.flat().sort()).toEqual(there);
      expect((await as(server, 'bob').call('message:list', { chatId: 'bobs' })).messages).toEqual([]);
    });

    test('who follows the chat sees it come; what is edited or deleted here stays so', async () => {
      const server = await startServer();
      const ann = await new Person(server.url).open({ userId: 'ann' });
      await as(server).call('chat:create', { chatId: 'c1', assistantId: 'echo' });
      const view = await ann.follow('c1');
      const old = await source.open();
      await old.add('agent_chat', chat('c1'));
      await old.add('agent_history', row('c1', 'one'), row('c1', 'two'), row('c1', 'three'));
      const first = await imported(server, old.url);
      expect(first.outcome('agent_chat', '1')?.reasons).toEqual([expect.stringMatching(/was here/)]);
      await until(() => view.messages.length === 3, 'the messages, live');
      const [one, two] = view.messages;
      await as(server).call('message:update', { messageId: one?.messageId ?? '', props: { content: 'ONE' } });
      await as(server).call('message:delete', { chatId: 'c1', messageIds: [two?.messageId ?? ''] });
      const { code, outcome } = await imported(server, old.url);
      expect(code).toBe(1);
      expect(outcome('agent_history', '1')).toMatchObject({
        outcome: 'changed',
        reasons: [expect.stringMatching(/edited/)],
      });
      expect(outcome('agent_history', '2')).toMatchObject({
        outcome: 'refused',
        reasons: [expect.stringMatching(/deleted/)],
      });
      expect(outcome('agent_history', '3')).toMatchObject({ outcome: 'kept' });
      expect(await contents(server, 'c1')).toEqual(['ONE', 'three']);
    });

    test('the owners of before, one at a time, each into a name of their own', async () => {
      const server = await startServer();
      const old = await source.open();
      await old.add('agent_chat', chat('c1'), chat('c2', { sid: 'u2' }));
      await old.add(
        'agent_history',
        row('c1', 'one'),
        row('c2', 'two', { sid: 'u2' }),
        row('gone', 'three', { sid: 'u2' }),
      );
      const { code, summary } = await imported(server, old.url, '--owner', 'u2', '--user', 'bob');
      expect([code, summary]).toMatchObject([0, { rows: { kept: 2 }, messages: { added: 2 } }]);
      expect((await as(server, 'bob').call('chat:list', {})).data.map(({ chatId }) => chatId).sort()).toEqual([
        'c2',
        'gone',
      ]);
      expect((await as(server).call('chat:list', {})).data).toEqual([]);
    });

    test('tables of an earlier version, with fewer columns', async () => {
      const server = await startServer();
      const old = await source.open();
      await old.run('DROP TABLE agent_chat');
      await old.run('DROP TABLE agent_history');
      await old.run('CREATE TABLE agent_chat (id INTEGER PRIMARY KEY, chat_id VARCHAR(200), title VARCHAR(200))');
      await old.run(
        'CREATE TABLE agent_history (id INTEGER PRIMARY KEY, chat_id VARCHAR(200), role VARCHAR(20), content TEXT)',
      );
      await old.run(`INSERT INTO agent_chat VALUES (1, 'c1', 'One')`);
      await old.run(`INSERT INTO agent_history VALUES (1, 'c1', 'user', 'hi'), (2, 'c9', 'user', 'ho')`);
      const { code, summary } = await imported(server, old.url, '--assistant', 'neo');
      expect([code, summary]).toMatchObject([0, { chats: { changed: 2 }, rows: { changed: 2 } }]);
      expect((await as(server).call('chat:get', { chatId: 'c1' })).chat).toMatchObject({
        title: 'One',
        assistantId: 'neo',
      });
      expect([await contents(server, 'c1'), await contents(server, 'c9')]).toEqual([['hi'], ['ho']]);
    });

    test('tables that are missing or another system’s are told in one line', async () => {
      const old = await source.open();
      const run = async () => {
        const cli = new CliProcess(['import', 'yao', '--from', old.url]);
        return [await cli.ended(), cli.stderr];
      };
      await old.run('DROP TABLE agent_chat');
      expect(await run()).toEqual([1, 'turnstream: the old database has no table agent_chat\n']);
      await old.run('CREATE TABLE agent_chat (id INTEGER PRIMARY KEY, conversation_id VARCHAR(64))');
      expect(await run()).toEqual([1, 'turnstream: agent_chat is not the old table: it has no column chat_id\n']);
    });
  });
