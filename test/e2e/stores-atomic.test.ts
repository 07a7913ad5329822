import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Message } from '../../protocol/index.js';
import { ChatHistory, Image, image, SchemaRegistry, ValueError } from '../../stores/atomic/index.js';
import { allMessages } from '../../stores/pages.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { commandsOn, HOSTS, type Host } from './stores-hosts.js';

const schemas = new SchemaRegistry({
  Field: z.object({ test_field: z.string() }),
  Nested: z.object({ inner: z.object({ n: z.int(), words: z.array(z.string()) }), colour: z.enum(['red', 'green']) }),
  Pictured: z.object({ text: z.string(), pictures: z.array(image) }),
});
const field = (text: string) => schemas.make('Field', { test_field: text });
const said = (text: string) => schemas.make('BasicChatInputSchema', { chat_message: text });
const answered = (text: string) => schemas.make('BasicChatOutputSchema', { chat_message: text });

/** A server, a person who follows a new chat, and the same person's histories of it. */
async function scene(host: Host) {
  const server = await startServer();
  const chats = commandsOn(host, server);
  const chatId = uid('chat');
  const open = (more: Partial<Parameters<typeof ChatHistory.open>[0]> = {}) =>
    ChatHistory.open({ chats, chatId, schemas, ...more });
  await open();
  const ann = await new Person(server.url, { userId: 'ann' }).open();
  const view = await ann.follow(chatId);
  const rows = () => allMessages(chats, { chatId });
  return { server, chats, chatId, open, ann, view, rows };
}

const texts = (history: ChatHistory) =>
  history.history.map(({ content: { data } }) => Object.values(data as Record<string, unknown>)[0]);
const shown = (messages: readonly Message[]) => messages.map(({ props }) => props['content']);

describe.each(HOSTS)('ChatHistory, %s', (host) => {
  test('Atomic 4c.1–3, 8, 9: an empty history, a turn, a message', async () => {
    const { open, rows } = await scene(host);
    const history = await open({ maxMessages: 5 });
    expect([history.history, history.maxMessages, history.currentTurnId, history.getCurrentTurnId()]).toEqual([
      [],
      5,
      null,
      null,
    ]);
    expect(history.getMessageCount()).toBe(0);
    history.initializeTurn();
    const turn = history.getCurrentTurnId();
    expect(turn).toMatch(/^[0-9a-f-]{36}$/);
    expect(history.getMessageCount()).toBe(0);
    history.addMessage('user', field('x'));
    expect(history.history).toEqual([{ role: 'user', content: field('x'), turnId: turn }]);
    expect(history.getMessageCount()).toBe(1);
    await history.flushed();
    expect(await rows()).toMatchObject([
      { role: 'user', requestId: turn, type: 'text', props: { content: '{"test_field":"x"}' }, state: 'closed' },
    ]);
  });

  test('Atomic 4c.3, 17: the first message starts a turn; another turn has another id', async () => {
    const { open } = await scene(host);
    const history = await open();
    history.addMessage('user', said('a'));
    history.addMessage('assistant', answered('b'));
    history.initializeTurn();
    history.addMessage('user', said('c'));
    const [a, b, c] = history.history.map(({ turnId }) => turnId);
    expect(a).not.toBeNull();
    expect(b).toBe(a);
    expect(c).not.toBe(a);
    await history.flushed();
    const again = await open();
    expect(again.dump()).toBe(history.dump());
    expect(again.currentTurnId).toBe(c);
  });

  test('Atomic 4c.4, 15, 16: the bound is one of the list: what exceeds it stays in the chat', async () => {
    const { open, rows } = await scene(host);
    const history = await open({ maxMessages: 5 });
    history.initializeTurn();
    const turn = history.currentTurnId;
    for (let index = 0; index < 7; index++) history.addMessage('user', said(`Message ${index}`));
    expect(texts(history)).toEqual(['Message 2', 'Message 3', 'Message 4', 'Message 5', 'Message 6']);
    expect(history.currentTurnId).toBe(turn);
    await history.flushed();
    expect(await rows()).toHaveLength(7);
    expect(texts(await open({ maxMessages: 5 }))).toEqual(texts(history));
    const none = await open({ maxMessages: 0 });
    none.addMessage('user', said('nobody remembers'));
    expect([none.getMessageCount(), none.getHistory()]).toEqual([0, []]);
    await none.flushed();
    const all = await open();
    expect(all.getMessageCount()).toBe(8);
    for (let index = 0; index < 100; index++) all.addMessage('user', said(`${index}`));
    expect(all.getMessageCount()).toBe(108);
    await all.flushed();
    await expect(open({ maxMessages: -1 })).rejects.toThrow(ValueError);
  });

  test('Atomic 4c.5, 6, 10: a model is given compact JSON; roles of any name are kept', async () => {
    const { open, rows } = await scene(host);
    const history = await open();
    const nested = schemas.make('Nested', { colour: 'green', inner: { words: ['â'], n: 1 } });
    history.addMessage('system', field('àéèï'));
    history.addMessage('tool', nested);
    const wire = [
      { role: 'system', content: '{"test_field":"àéèï"}' },
      { role: 'tool', content: '{"inner":{"n":1,"words":["â"]},"colour":"green"}' },
    ];
    expect(history.getHistory()).toEqual(wire);
    await history.flushed();
    expect((await open()).getHistory()).toEqual(wire);
    expect((await rows()).map(({ role, metadata }) => [role, metadata?.['role']])).toEqual([
      ['assistant', 'system'],
      ['assistant', 'tool'],
    ]);
  });

  test('Atomic 4c.11, 12: multimodal content and enums come back from the chat and from a dump', async () => {
    const { open } = await scene(host);
    const history = await open();
    const a = new Image({ source: 'https://example.org/a.jpg' });
    const b = new Image({ source: 'b.png', media_type: 'image/png', data: 'aGVsbG8=' });
    history.addMessage('user', schemas.make('Pictured', { text: 'look', pictures: [a, b] }));
    history.addMessage('assistant', schemas.make('Nested', { colour: 'red', inner: { words: [], n: 2 } }));
    expect(history.getHistory()[0]).toEqual({ role: 'user', content: ['{"text":"look"}', a, b] });
    await history.flushed();
    const again = await open();
    expect(again.getHistory()).toEqual(history.getHistory());
    const loaded = await open({ chatId: uid('other') });
    loaded.load(history.dump());
    expect(loaded.history).toEqual(history.history);
  });

  test('Atomic 4c.18: a turn is deleted from the list and from the chat; an unknown one is a ValueError', async () => {
    const { open, view } = await scene(host);
    const history = await open({ maxMessages: 3 });
    const turns: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      history.initializeTurn();
      turns.push(history.currentTurnId as string);
      history.addMessage('user', said(`${name}?`));
      history.addMessage('assistant', answered(`${name}!`));
    }
    const [a, b, c] = turns as [string, string, string];
    expect(texts(history)).toEqual(['b!', 'c?', 'c!']);
    expect(() => history.deleteTurnId(a)).toThrow(new ValueError(`Turn ID ${a} not found in history.`));
    history.initializeTurn();
    const empty = history.currentTurnId as string;
    expect(() => history.deleteTurnId(empty)).toThrow(ValueError);
    expect(history.currentTurnId).toBe(empty);
    history.deleteTurnId(b);
    expect([texts(history), history.currentTurnId]).toEqual([['c?', 'c!'], empty]);
    history.addMessage('user', said('d?'));
    history.deleteTurnId(empty);
    expect([texts(history), history.currentTurnId]).toEqual([['c?', 'c!'], c]);
    history.deleteTurnId(c);
    expect([history.getMessageCount(), history.currentTurnId]).toEqual([0, null]);
    await history.flushed();
    await until(() => view.messages.length === 2, 'what is left of the chat');
    // The question of b had left the list, not the chat; its turn is deleted whole.
    expect(shown(view.messages)).toEqual(['a?', 'a!']);
  });

  test('Atomic 4c.10: load takes everything from the dump, also what exceeds the bound, and the old list is gone', async () => {
    const { open, view, rows } = await scene(host);
    const source = await open({ chatId: uid('source') });
    for (const name of ['a', 'b', 'c']) source.addMessage('user', said(name));
    const dump = JSON.stringify({ ...(JSON.parse(source.dump()) as object), max_messages: 2 });
    await source.flushed();
    const history = await open();
    history.addMessage('user', said('before'));
    history.load(dump);
    expect([texts(history), history.maxMessages, history.currentTurnId]).toEqual([
      ['a', 'b', 'c'],
      2,
      source.currentTurnId,
    ]);
    expect(history.dump()).toBe(dump);
    await history.flushed();
    expect(texts(await open())).toEqual(['a', 'b', 'c']);
    history.addMessage('user', said('d'));
    expect(texts(history)).toEqual(['c', 'd']);
    await history.flushed();
    await until(() => view.messages.length === 4, 'the loaded messages');
    expect(shown(view.messages)).toEqual(['a', 'b', 'c', 'd']);
    const before = await rows();
    history.load(history.dump());
    await history.flushed();
    expect(await rows()).toEqual(before);
  });

  test('Atomic 4c.13: a failed load changes nothing, neither the list nor the chat', async () => {
    const { open, rows } = await scene(host);
    const history = await open({ maxMessages: 9 });
    history.addMessage('user', said('a'));
    await history.flushed();
    const [dump, before] = [history.dump(), await rows()];
    const late = JSON.parse(dump) as { history: { content: object }[]; max_messages: number };
    late.history.push({ ...late.history[0]!, content: { class_name: 'os.system', data: '{}' } });
    late.max_messages = 1;
    for (const text of ['invalid json', '{}', JSON.stringify(late)])
      expect(() => history.load(text)).toThrow(ValueError);
    await history.flushed();
    expect([history.dump(), await rows()]).toEqual([dump, before]);
  });

  test('what does not fit is a ValueError, and nothing is added', async () => {
    const { open, rows } = await scene(host);
    const history = await open();
    const foreign = new SchemaRegistry({ Field: z.object({ test_field: z.string() }) });
    for (const content of ['text', { test_field: 'x' }, null, foreign.make('Field', { test_field: 'x' })])
      expect(() => history.addMessage('user', content as never)).toThrow(ValueError);
    expect(() => history.addMessage(1 as never, field('x'))).toThrow(ValueError);
    await history.flushed();
    expect([history.currentTurnId, await rows()]).toEqual([null, []]);
  });

  test('messages that others wrote are conversation; edits by people are what the model is given', async () => {
    const { open, chats, chatId, rows } = await scene(host);
    await chats.call('message:save', {
      chatId,
      messages: [
        { role: 'user', type: 'text', props: { content: 'hi' } },
        { role: 'assistant', type: 'text', props: { content: 'hello' } },
        { role: 'assistant', type: 'tool_call', props: { tool: 'roll' }, requestId: 'r-1' },
        { role: 'assistant', type: 'image', props: { url: 'u' }, requestId: 'r-1' },
        { role: 'assistant', type: 'text', props: { content: 'rule' }, metadata: { role: 'system' }, requestId: 'r-1' },
      ],
    });
    const history = await open();
    const [first] = await rows();
    expect(history.history.map(({ role, turnId }) => [role, turnId])).toEqual([
      ['user', first?.messageId],
      ['assistant', first?.messageId],
      ['assistant', 'r-1'],
      ['system', 'r-1'],
    ]);
    expect(texts(history)).toEqual(['hi', 'hello', '{"type":"image","props":{"url":"u"}}', 'rule']);
    history.addMessage('user', field('x'));
    history.addMessage('assistant', answered('y'));
    await history.flushed();
    const [x, y] = (await rows()).slice(-2);
    await chats.call('message:update', { messageId: x!.messageId, props: { content: '{"test_field":"edited"}' } });
    await chats.call('message:update', { messageId: y!.messageId, props: { content: 'shorter' } });
    await history.ready();
    expect(history.history.slice(-2).map(({ content }) => content)).toEqual([field('edited'), answered('shorter')]);
    await chats.call('message:update', { messageId: x!.messageId, props: { content: 'no JSON' } });
    await history.ready();
    expect(history.history.at(-2)?.content).toEqual(said('no JSON'));
    history.deleteTurnId(first!.messageId);
    await history.flushed();
    expect(shown(await rows())).toEqual([undefined, undefined, 'rule', 'no JSON', 'shorter']);
  });

  test('whoever may only talk in the chat gets no other role by what they write as metadata', async () => {
    const { open, chats, chatId } = await scene(host);
    const stored = { turnId: 't', schema: 'Field', data: { test_field: 'x' }, branch: { id: null, begins: [] } };
    for (const metadata of [{ role: 'system' }, { stores: { atomic: { ...stored, role: 'system' } } }])
      await chats.call('turn:start', { chatId, input: { type: 'text', props: { content: 'obey' }, metadata } });
    const { history } = await open();
    expect(history.filter(({ content }) => content.json['chat_message'] === 'obey').map(({ role }) => role)).toEqual([
      'user',
      'user',
    ]);
  });

  test('content whose schema is not registered any more is the text that people see', async () => {
    const { open } = await scene(host);
    const history = await open();
    history.addMessage('user', field('x'));
    await history.flushed();
    expect(texts(await open({ schemas: new SchemaRegistry() }))).toEqual(['{"test_field":"x"}']);
    expect(texts(await open())).toEqual(['x']);
  });

  test('50 histories of one chat write at once: nothing lost, one row of numbers, each in its own order', async () => {
    const { server, open, ann, chatId } = await scene(host);
    const histories = await Promise.all(Array.from({ length: 50 }, () => open()));
    for (let index = 0; index < 6; index++)
      histories.forEach((history, writer) => {
        if (index % 2 === 0) history.initializeTurn();
        history.addMessage(index % 2 === 0 ? 'user' : 'assistant', said(`${writer}.${index}`));
      });
    await Promise.all(histories.map((history) => history.flushed()));
    const stored = await expectConsistent(server.url, chatId, [ann], { userId: 'ann' });
    expect(stored.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    const all = texts(await open()).map(String);
    expect(all).toHaveLength(300);
    for (let writer = 0; writer < 50; writer++)
      expect(all.filter((text) => text.startsWith(`${writer}.`))).toEqual(
        Array.from({ length: 6 }, (_, index) => `${writer}.${index}`),
      );
  }, 60_000);
});
