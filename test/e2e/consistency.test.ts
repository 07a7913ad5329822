import { afterEach, describe, expect, test } from 'vitest';
import type { Json, Message, OpInput } from '../../protocol/index.js';
import type { Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { expectGrammar } from './grammar.js';
import { storeBeside } from '../harness/store-beside.js';
import { scene } from './scene.js';

describe('DAT-4: views, snapshots, history and rows are equal', () => {
  test('DAT-4: a chat that is renamed while a turn runs keeps the time of what was said in it', async () => {
    const here = await scene();
    const { person, chatId, view } = here;
    const run = await here.turn();
    await run.send('said');
    await until(() => view.messages.length === 2, 'what was said');
    const said = view.messages.at(-1)?.createdAt;
    const { chat } = await person.do('chat:update', { chatId, title: 'named' });
    expect(chat).toMatchObject({ title: 'named', lastMessageAt: said });
    await run.close();
    await person.ended(chatId, run.requestId);
    expect((await person.do('chat:get', { chatId })).chat.lastMessageAt).toBe(said);
    expect(view.view?.chat.lastMessageAt).toBe(said);
  });

  test.each(['0', '33'])(
    'DAT-4: after every step of two turns that do everything, and of people who edit meanwhile (COALESCE_MS=%s)',
    async (coalesceMs) => {
      const here = await scene({ env: { COALESCE_MS: coalesceMs } });
      const { url, person, chatId } = here;
      const second = await new Person(url).open();
      await second.follow(chatId);
      const [one, two] = [await here.turn({ metadata: { n: 1 } }), await here.turn({ onBusy: 'parallel' })];
      const [a, b, c, d] = [uid('m'), uid('m'), uid('m'), uid('m')];
      const [s1, s2] = [uid('s'), uid('s')];
      const push =
        (run: Run, ...ops: OpInput[]) =>
        () =>
          run.push(...ops);
      const steps: (() => Promise<unknown>)[] = [
        push(one, {
          op: 'send',
          messageId: a,
          type: 'text',
          props: { content: 'a' },
          blockId: 'b1',
          threadId: 't1',
          metadata: { m: 1 },
        }),
        push(
          two,
          { op: 'step.start', stepId: s1, type: 'llm', input: 'q' },
          { op: 'send', messageId: b, type: 'text', props: {} },
          { op: 'append', messageId: b, text: 'b1' },
        ),
        push(one, { op: 'append', messageId: a, text: ' 👍'.slice(0, -1) }),
        push(
          one,
          { op: 'append', messageId: a, text: ' 👍'.slice(-1) },
          { op: 'append', messageId: a, text: 'x', path: 'rows.0.text' },
        ),
        push(
          two,
          { op: 'send', messageId: c, type: 'loading', props: { done: false } },
          { op: 'merge', messageId: c, value: { nested: { deep: [1, 2] } } },
        ),
        push(
          one,
          { op: 'merge', messageId: a, path: 'rows', value: ['replaced'] },
          { op: 'set', messageId: a, path: 'rows.1', value: null },
        ),
        push(
          two,
          { op: 'replace', messageId: c, type: 'tool_call', props: { name: 'search' } },
          { op: 'end', messageId: c },
        ),
        () => person.do('message:update', { messageId: c, props: { name: 'edited' }, metadata: { by: 'person' } }),
        push(
          one,
          { op: 'signal', name: 'unseen', data: 1 },
          { op: 'send', messageId: d, type: 'text', props: { content: 'doomed' } },
        ),
        () => person.do('message:delete', { chatId, messageIds: [d] }),
        push(one, { op: 'append', messageId: d, text: 'dropped' }, { op: 'append', messageId: a, text: ' end' }),
        push(
          two,
          { op: 'step.end', stepId: s1, status: 'completed', output: 'r' },
          { op: 'step.start', stepId: s2, type: 'tool' },
        ),
        () => person.start(chatId, [{ type: 'image', props: { url: 'https://x' } }, 'queued']),
        () => two.close('failed', { error: { code: 'e', message: 'm' } }),
        () => person.do('message:update', { messageId: b, type: 'note' }),
        () => person.do('turn:stop', { requestId: one.requestId }),
        () => person.do('message:delete', { chatId, messageIds: [b] }),
        () => person.do('turn:stop', { requestId: here.view.messages.at(-1)?.requestId }),
      ];
      for (const step of steps) {
        await step();
        await expectConsistent(url, chatId, [person, second]);
      }
      const history = await expectConsistent(url, chatId, [person]);
      await until(
        () =>
          here.view.view?.turns.size === 3 &&
          [...here.view.view.turns.values()].every(({ endedAt }) => endedAt !== null),
        'all ends',
      );
      expectGrammar(here.view.events);
      await here.server.close();
      const rows = await storeBeside(here.server.dataDir).rows(
        'SELECT * FROM agent_message WHERE chat_id = ? AND deleted_at IS NULL ORDER BY sequence',
        chatId,
      );
      const stored = rows.map((row) => ({
        messageId: row['message_id'],
        sequence: row['sequence'],
        type: row['type'],
        role: row['role'],
        requestId: row['request_id'],
        blockId: row['block_id'],
        threadId: row['thread_id'],
        stepId: row['step_id'],
        assistantId: row['assistant_id'],
        props: row['props'],
        metadata: row['metadata'],
      }));
      const of = ({
        messageId,
        sequence,
        type,
        role,
        requestId,
        blockId,
        threadId,
        stepId,
        assistantId,
        props,
        metadata,
      }: Message) => ({
        messageId,
        sequence,
        type,
        role,
        requestId,
        blockId,
        threadId,
        stepId,
        assistantId,
        props,
        metadata,
      });
      expect(stored).toEqual(history.map(of));
      const { url: later } = await startServer({ dataDir: here.server.dataDir });
      expect(await expectConsistent(later, chatId)).toEqual(history);
    },
  );

  test('DAT-4: an empty text, an empty object, and numbers of every kind come back as they were', async () => {
    const here = await scene();
    const run = await here.turn();
    const values: Json[] = [
      '',
      ' ',
      '\n',
      '{}',
      'null',
      0,
      -1,
      1.5,
      1e-9,
      2 ** 53,
      1e300,
      true,
      false,
      null,
      [],
      {},
      [[]],
      [null],
      { '': '' },
      { a: { 0: 'x' } },
      '\u2028',
      '日本語',
      'a'.repeat(1000),
    ];
    for (const value of values) await run.push({ op: 'send', type: 'v', props: { value }, metadata: { value } });
    await run.close('completed', { usage: values });
    await here.person.ended(here.chatId, run.requestId);
    const history = await expectConsistent(here.url, here.chatId, [here.person]);
    expect(history.slice(1).map(({ props }) => props['value'])).toEqual(values);
    expect(history.slice(1).map(({ metadata }) => metadata?.['value'])).toEqual(values);
    expect((await here.person.turn(run.requestId)).usage).toEqual(values);
  });
});

describe('C48: times', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  test.each(['Asia/Tokyo', 'America/St_Johns', 'Pacific/Apia'])(
    'C48: are UTC with milliseconds on the wire, of one kind in the rows, whatever the zone (%s)',
    async (tz) => {
      process.env['TZ'] = tz;
      expect(new Date(0).getHours()).not.toBe(0);
      const began = Date.now();
      const here = await scene();
      const { person, chatId, url } = here;
      const run = await here.turn();
      await run.push({ op: 'step.start', stepId: uid('s'), type: 'llm' });
      await run.send('x');
      await run.close();
      await person.ended(chatId, run.requestId);
      await person.do('message:update', { messageId: here.view.messages[0]!.messageId, metadata: { edited: true } });
      await person.do('chat:update', { chatId, title: 't' });
      const bodies = [
        await person.do('chat:get', { chatId }),
        await person.do('message:list', { chatId }),
        await person.do('turn:list', { chatId }),
        await person.do('step:list', { requestId: run.requestId }),
        here.view.events,
        (await (await fetch(`${url}/v1/chats`)).json()) as Json,
      ];
      const times =
        JSON.stringify(bodies)
          .match(/"(?:at|\w+At)":"[^"]*"/g)
          ?.map((text) => text.split('":"')[1]!.slice(0, -1)) ?? [];
      expect(times.length).toBeGreaterThan(20);
      for (const time of times) {
        expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
        expect(Math.abs(Date.parse(time) - began)).toBeLessThan(60_000);
      }
      await here.server.close();
      for (const table of ['agent_chat', 'agent_message', 'agent_turn', 'agent_step']) {
        const rows = await storeBeside(here.server.dataDir).rows(`SELECT * FROM ${table}`);
        const stored = rows
          .flatMap(Object.entries)
          .filter(([column, value]) => column.endsWith('_at') && value !== null);
        expect(stored.length, table).toBeGreaterThan(1);
        for (const [column, time] of stored)
          expect(time, `${table}.${column}`).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+00:00$/);
      }
    },
  );

  test('C48: chats are listed by instant: newest activity first', async () => {
    const { url } = await startServer();
    const person = await new Person(url).open();
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push(await person.createChat());
    const follow = await person.follow(ids[0]!);
    const { turn } = await person.start(ids[0]!, 'hello', { metadata: { delayMs: 0 } });
    await person.ended(ids[0]!, turn.requestId);
    expect(follow.text(turn.requestId)).toBe('hello');
    const { data } = await person.do<{ data: { chatId: string }[] }>('chat:list');
    expect(data.map(({ chatId }) => chatId)).toEqual([ids[0], ids[2], ids[1]]);
  });
});
