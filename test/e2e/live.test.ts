import { describe, expect, test } from 'vitest';
import type { ChatEvent, OpInput } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const appended = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'message.appended' ? [[event.path, event.from, event.text]] : []));

describe('SUB-6: coalescing', () => {
  const LONG = { COALESCE_MS: '1000' };
  const append = (messageId: string, text: string, path = 'content'): OpInput => ({
    op: 'append',
    messageId,
    text,
    path,
  });

  test('SUB-6: the first append goes at once, the others of its window as one event', async () => {
    const here = await scene({ env: LONG });
    const run = await here.turn();
    const messageId = await run.send('');
    const began = performance.now();
    await run.push(...Array.from({ length: 100 }, (_, index) => append(messageId, `${index},`)));
    await until(() => here.view.text(run.requestId) !== '', 'the first');
    expect(here.view.text(run.requestId)).toBe('0,');
    expect(performance.now() - began).toBeLessThan(900);
    for (let index = 100; index < 110; index++) await run.append(messageId, `${index},`);
    await until(() => here.view.text(run.requestId).endsWith('109,'), 'the window');
    const rest = Array.from({ length: 109 }, (_, index) => `${index + 1},`).join('');
    expect(appended(here.view.events)).toEqual([
      ['content', 0, '0,'],
      ['content', 2, rest],
    ]);
  });

  test('SUB-6: each path of each message has its own text; another event of the chat flushes them first', async () => {
    const here = await scene({ env: LONG });
    const run = await here.turn();
    const [one, two] = [await run.send(''), await run.send('')];
    await run.push(
      append(one, 'a1'),
      append(one, 'b1', 'b'),
      append(one, 'a2'),
      append(two, 'c1'),
      append(one, 'b2', 'b'),
      append(two, 'c2'),
      { op: 'set', messageId: two, path: 'done', value: true },
      append(one, 'a3'),
      append(one, 'a4'),
    );
    await here.person.do('chat:update', { chatId: here.chatId, title: 'flush' });
    await until(() => here.view.view?.chat.title === 'flush', 'the other event');
    const told = here.view.events.flatMap((event) =>
      event.type === 'message.appended'
        ? [event.text]
        : event.type === 'message.set' || event.type === 'chat.updated'
          ? [event.type]
          : [],
    );
    expect(told).toEqual(['a1', 'b1b2', 'a2', 'c1c2', 'message.set', 'a3a4', 'chat.updated']);
  });

  test('SUB-6: one who subscribes flushes what waits, and the text so far is in the snapshot', async () => {
    const here = await scene({ env: { COALESCE_MS: '60000' } });
    const run = await here.turn();
    const messageId = await run.send('');
    await run.push(append(messageId, 'a'), append(messageId, 'b'), append(messageId, 'c'));
    const late = await (await new Person(here.url).open()).follow(here.chatId);
    expect(late.text(run.requestId)).toBe('abc');
    await until(() => here.view.text(run.requestId) === 'abc', 'the flush');
    await run.append(messageId, 'd');
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(appended(here.view.events).map(([, , text]) => text)).toEqual(['a', 'bc', 'd']);
  });

  test('SUB-6: with 0, what arrives in one tick is one event', async () => {
    const here = await scene({ env: { COALESCE_MS: '0' } });
    const run = await here.turn();
    const messageId = await run.send('');
    await run.push(...Array.from({ length: 100 }, () => append(messageId, 'x')));
    await until(() => here.view.text(run.requestId).length === 100, 'the text');
    await run.append(messageId, 'y');
    await until(() => here.view.text(run.requestId).length === 101, 'the text');
    expect(appended(here.view.events)).toEqual([
      ['content', 0, 'x'.repeat(100)],
      ['content', 100, 'y'],
    ]);
  });

  test('C49: what goes over the wire is about as long as the text, however many appends it took', async () => {
    const here = await scene();
    const bytesFor = async (appends: number) => {
      const raw = await RawSocket.open(here.url);
      await raw.ask('chat:subscribe', JSON.stringify({ chatId: here.chatId, messageLimit: 1 }));
      const before = raw.bytes;
      const run = await here.turn();
      const messageId = await run.send('');
      for (let pushed = 0; pushed < appends; pushed += 100)
        await run.push(...Array.from({ length: 100 }, () => append(messageId, '0123456789')));
      await run.close();
      await raw.packet((packet) => packet.includes('"turn.ended"') && packet.includes(run.requestId), 'the end');
      raw.ws.terminate();
      return raw.bytes - before;
    };
    const [half, whole] = [await bytesFor(10_000), await bytesFor(20_000)];
    expect(whole).toBeLessThan(5 * 200_000);
    expect(whole).toBeLessThan(3 * half);
  });
});

describe('SUB-8: presence and signals', () => {
  test('SUB-8: everybody who follows is told who follows and who types, once per change, without an offset', async () => {
    const here = await scene();
    const { url, chatId, person } = here;
    await person.do('chat:update', { chatId, public: true });
    const users = (who: Person) => who.presences.at(-1)?.users;
    await until(() => users(person)?.length === 1, 'oneself');
    const [two, three] = [
      await new Person(url, { userId: 'two' }).open(),
      await new Person(url, { userId: 'two' }).open(),
    ];
    await two.follow(chatId);
    await until(() => users(person)?.length === 2, 'the second');
    expect(users(person)).toEqual([
      { userId: 'local', typing: false },
      { userId: 'two', typing: false },
    ]);
    const told = person.presences.length;
    expect((await three.do('chat:subscribe', { chatId })).presence).toEqual(users(person));
    expect(await person.do('typing', { chatId, typing: true })).toEqual({});
    await until(() => users(two)?.[0]?.typing, 'typing');
    await person.do('typing', { chatId, typing: true });
    await person.do('typing', { chatId, typing: false });
    await until(() => users(two)?.[0]?.typing === false, 'typing no more');
    // A second connection of the same user changed nothing that is shown.
    expect(person.presences.length - told).toBe(2);
    expect(Object.keys(person.presences[0]!).sort()).toEqual(['chatId', 'users']);
    three.close();
    two.drop();
    await until(() => users(person)?.length === 1, 'two gone');
    await person.do('typing', { chatId, typing: true });
    const fourth = await new Person(url, { userId: 'two' }).open();
    expect((await fourth.do('chat:subscribe', { chatId })).presence).toContainEqual({ userId: 'local', typing: true });
    person.drop();
    await until(
      () => fourth.presences.at(-1)?.users.every(({ typing }) => !typing),
      'a typist who is gone types no more',
    );
    expect(await fourth.refused('typing', { chatId, typing: true })).toMatchObject({ code: 'forbidden' });
    expect(await fourth.refused('typing', { chatId })).toMatchObject({ code: 'bad_request' });
  });

  test('SUB-8: who was handed a list that is over before it is told hears of its end', async () => {
    const { url, chatId, person } = await scene();
    await person.do('chat:update', { chatId, public: true });
    const two = () => new Person(url, { userId: 'two' }).open();
    const [settled, late] = [await two(), await two()];
    await settled.do('chat:subscribe', { chatId });
    await until(() => settled.presences.at(-1)?.users.length === 2, 'both are there');
    await person.do('typing', { chatId, typing: true });
    const { presence } = await late.do('chat:subscribe', { chatId });
    expect(presence).toContainEqual({ userId: 'local', typing: true });
    await person.do('typing', { chatId, typing: false });
    await until(() => late.presences.at(-1)?.users.every(({ typing }) => !typing), 'typing no more');
  });

  test.each([true, false])(
    'SUB-8: signals reach those who follow now, in their place among the events; they are not stored, numbered or replayed (direct fan-out: %s)',
    async (isDirectFanOut) => {
      const here = await scene({ isDirectFanOut });
      const { url, chatId, person } = here;
      const run = await here.turn();
      const messageId = await run.send('');
      const order: string[] = [];
      person.socket.on('signal', ({ name }: { name: string }) => order.push(name));
      person.socket.on('events', (batch: ChatEvent[]) =>
        order.push(...batch.flatMap((event) => ('text' in event ? [event.text] : []))),
      );
      const position = here.view.position;
      await run.push(
        { op: 'append', messageId, text: 'a' },
        { op: 'append', messageId, text: 'b' },
        { op: 'signal', name: 's1', data: { n: 1 } },
        { op: 'append', messageId, text: 'c' },
        { op: 'send', type: 'event', props: { name: 's2', n: 2 } },
        { op: 'append', messageId, text: 'd' },
        { op: 'send', type: 'event', props: { n: 3 } },
      );
      const late = await new Person(url).open();
      await late.follow(chatId);
      await run.close();
      await person.ended(chatId, run.requestId);
      expect(order.join('')).toBe('abs1cs2devent');
      expect(person.signals).toEqual([
        { chatId, requestId: run.requestId, name: 's1', data: { n: 1 } },
        { chatId, requestId: run.requestId, name: 's2', data: { name: 's2', n: 2 } },
        { chatId, requestId: run.requestId, name: 'event', data: { n: 3 } },
      ]);
      expect(late.signals).toEqual([]);
      const replay = await late.do('chat:subscribe', { chatId, position });
      expect(JSON.stringify(replay.events)).not.toContain('"n":');
      const history = await expectConsistent(url, chatId, [person, late]);
      expect(history.map(({ sequence }) => sequence)).toEqual([1, 2]);
    },
  );

  test('SUB-8: signals and presence of one chat are not heard in another', async () => {
    const here = await scene();
    const other = await new Person(here.url).open();
    const chatId = await other.createChat({ assistantId: 'bot' });
    await other.follow(chatId);
    const run = await here.turn();
    await run.push({ op: 'signal', name: uid('s'), data: null });
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    await until(() => here.person.signals.length === 1, 'the signal');
    await other.do('chat:list');
    expect(other.signals).toEqual([]);
    expect(other.presences.every((presence) => presence.chatId === chatId)).toBe(true);
  });
});
