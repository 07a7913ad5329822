import { describe, expect, test } from 'vitest';
import type { ChatEvent, Message, SubscribeResult } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent, httpHistory, plain } from '../harness/consistent.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

const x = (length: number) => 'x'.repeat(length);

/** What subscribing on a new connection answers. */
async function subscribed({ url, chatId }: Pick<Scene, 'url' | 'chatId'>, args: object = {}): Promise<SubscribeResult> {
  const person = await new Person(url).open();
  const answer = await person.do<SubscribeResult>('chat:subscribe', { chatId, ...args });
  person.close();
  return answer;
}

describe('SUB-1: snapshots', () => {
  test('SUB-1: the newest messages ascending, open ones with the text so far, the turns of these and those that wait or run', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const first = await here.turn();
    await first.send('answer');
    await first.close('completed', { usage: { tokens: 1 } });
    await person.ended(chatId, first.requestId);
    const run = await here.turn();
    const messageId = await run.send('so ');
    await run.append(messageId, 'far');
    const waiting = (await person.start(chatId, 'waits')).turn;
    const background = await here.turn({ onBusy: 'parallel' });
    await until(() => here.view.view?.turns.get(background.requestId)?.status === 'running', 'all turns');
    const snapshot = await subscribed(here);
    expect(snapshot).toMatchObject({
      mode: 'snapshot',
      position: here.view.position,
      hasMore: false,
      chat: { chatId },
    });
    expect(snapshot.messages?.map(plain)).toEqual(here.view.messages.map(plain));
    expect(snapshot.messages?.map(({ sequence, state, props }) => [sequence, state, props['content']])).toEqual([
      [1, 'closed', 'go'],
      [2, 'closed', 'answer'],
      [3, 'closed', 'go'],
      [4, 'open', 'so far'],
      [5, 'closed', 'waits'],
      [6, 'closed', 'go'],
    ]);
    expect(new Map(snapshot.turns?.map((turn) => [turn.requestId, turn]))).toEqual(here.view.view?.turns);
    const small = await subscribed(here, { messageLimit: 1 });
    // The open message is always there, and what lies between.
    expect(small.messages?.map(({ sequence }) => sequence)).toEqual([4, 5, 6]);
    expect(small.hasMore).toBe(true);
    expect(small.turns?.map(({ requestId }) => requestId).sort()).toEqual(
      [run.requestId, waiting.requestId, background.requestId].sort(),
    );
  });

  test('SUB-1: an empty chat; messageLimit', async () => {
    const here = await scene();
    expect(await subscribed(here)).toEqual({
      chat: here.view.view?.chat,
      mode: 'snapshot',
      position: here.view.position,
      messages: [],
      hasMore: false,
      turns: [],
      presence: expect.any(Array) as unknown[],
    });
    const { turn } = await here.person.start(
      here.chatId,
      Array.from({ length: 60 }, (_, index) => `${index}`),
    );
    await here.person.do('turn:stop', { requestId: turn.requestId });
    expect((await subscribed(here)).messages?.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 11),
    );
    expect(await subscribed(here, { messageLimit: 200 })).toMatchObject({ hasMore: false });
  });

  test('C13: one who comes in the middle gets the answer so far over HTTP and by joining, then the rest', async () => {
    const here = await scene();
    const { url, chatId } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    for (let index = 0; index < 40; index++) await run.append(messageId, `${index},`);
    const soFar = Array.from({ length: 40 }, (_, index) => `${index},`).join('');
    const [, shown] = await httpHistory(url, chatId);
    expect(shown).toMatchObject({ messageId, state: 'open', requestId: run.requestId, props: { content: soFar } });
    const turn = (await (await fetch(`${url}/v1/turns/${run.requestId}`)).json()) as object;
    expect(turn).toMatchObject({ turn: { status: 'running' } });
    const late = await new Person(url).open();
    const view = await late.follow(chatId);
    expect(view.text(run.requestId)).toBe(soFar);
    expect(view.view?.turns.get(run.requestId)?.status).toBe('running');
    for (let index = 40; index < 100; index++) await run.append(messageId, `${index},`);
    await run.close();
    await late.ended(chatId, run.requestId);
    expect(view.text(run.requestId)).toBe(Array.from({ length: 100 }, (_, index) => `${index},`).join(''));
    await expectConsistent(url, chatId, [late, here.person]);
  });
});

describe('SUB-2: replay', () => {
  test('SUB-2: exactly what was missed, where all of it is kept; nothing where nothing was', async () => {
    const here = await scene({ env: { COALESCE_MS: '0' } });
    const run = await here.turn();
    const messageId = await run.send('');
    for (let index = 0; index < 20; index++) await run.append(messageId, `${index}`);
    await until(() => here.view.text(run.requestId).endsWith('19'), 'all text');
    const { events } = here.view;
    for (const event of [events[0]!, events[5]!, events.at(-1)!]) {
      const answer = await subscribed(here, { position: { epoch: event.epoch, offset: event.offset } });
      expect(answer).toEqual({
        mode: 'replay',
        chat: answer.chat,
        position: here.view.position,
        presence: answer.presence,
        events: events.filter(({ offset }) => offset > event.offset),
      });
    }
    expect((await subscribed(here, { position: { epoch: events[0]!.epoch, offset: 0 } })).events).toEqual(events);
  });

  test('SUB-2: another epoch, an offset of the future, or one that is malformed', async () => {
    const here = await scene();
    const { epoch, offset } = here.view.position!;
    for (const position of [
      { epoch: 'other', offset },
      { epoch, offset: offset + 1 },
      { epoch, offset: 2 ** 40 },
      { epoch: `${epoch}x`, offset: 0 },
    ]) {
      expect(await subscribed(here, { position })).toMatchObject({ mode: 'snapshot', position: { epoch, offset } });
    }
    for (const position of [
      { epoch },
      { epoch, offset: -1 },
      { epoch, offset: 1.5 },
      { epoch: '', offset: 0 },
      { epoch: 7, offset: 0 },
      'x',
      [],
      null,
    ]) {
      expect(await here.person.refused('chat:subscribe', { chatId: here.chatId, position })).toMatchObject({
        code: 'bad_request',
      });
    }
  });

  test('SUB-2: 1,000 events are replayed, 1,001 are a snapshot', async () => {
    const { url, person, agent } = await scene();
    const chatId = await person.createChat({ chatId: 'c', assistantId: 'bot' });
    const view = await person.follow(chatId);
    await person.start(chatId, 'go', { requestId: 'r' });
    const run = await agent.run('r');
    const messageId = await run.send('');
    await until(() => view.messages.length === 2, 'the message');
    const { epoch, offset } = view.position!;
    await run.push(
      ...Array.from({ length: 1001 }, (_, value) => ({ op: 'set', messageId, path: 'a', value }) as const),
    );
    await until(() => view.position?.offset === offset + 1001, 'all events');
    expect(await subscribed({ url, chatId }, { position: { epoch, offset } })).toMatchObject({
      mode: 'snapshot',
      position: view.position,
    });
    const answer = await subscribed({ url, chatId }, { position: { epoch, offset: offset + 1 } });
    expect(answer.mode).toBe('replay');
    expect(answer.events).toHaveLength(1000);
  });

  test('SUB-2: 256 KiB are replayed, more is a snapshot', async () => {
    const here = await scene({ env: { COALESCE_MS: '0' } });
    const run = await here.turn();
    for (let index = 0; index < 12; index++) await run.send(x(30_000));
    await until(() => here.view.messages.length === 13, 'all messages');
    const bytes = (event: ChatEvent) => Buffer.byteLength(JSON.stringify(event));
    for (const { epoch, offset } of here.view.events) {
      const missed = here.view.events.filter((event) => event.offset > offset);
      const fits = missed.reduce((sum, event) => sum + bytes(event), 0) <= 256 * 1024;
      expect(await subscribed(here, { position: { epoch, offset } })).toMatchObject({
        mode: fits ? 'replay' : 'snapshot',
        position: here.view.position,
      });
    }
  });

  test('SUB-2: what the log keeps no more is a snapshot, never a hole', async () => {
    const here = await scene({ env: { LOG_MAX_EVENTS: '5' } });
    const { epoch, offset } = here.view.position!;
    const run = await here.turn();
    for (let index = 0; index < 10; index++) await run.send(`${index}`);
    await until(() => here.view.messages.length === 11, 'all messages');
    const last = here.view.position!.offset;
    expect(await subscribed(here, { position: { epoch, offset } })).toMatchObject({ mode: 'snapshot' });
    expect(await subscribed(here, { position: { epoch, offset: last - 6 } })).toMatchObject({ mode: 'snapshot' });
    expect(
      (await subscribed(here, { position: { epoch, offset: last - 5 } })).events?.map((event) => event.offset),
    ).toEqual([4, 3, 2, 1, 0].map((back) => last - back));
  });
});

describe('SUB-3, SUB-4: snapshot and live without a seam', () => {
  test.each([true, false])(
    'C02: 200 clients that join while text comes have all of it, once (direct fan-out: %s)',
    async (isDirectFanOut) => {
      const here = await scene({ isDirectFanOut, env: { COALESCE_MS: '1' } });
      const { url, chatId } = here;
      const people = await Promise.all(Array.from({ length: 200 }, () => new Person(url).open()));
      const run = await here.turn();
      const messageId = await run.send('');
      let written = 0;
      let isOver = false;
      const writing = (async () => {
        while (!isOver) await Promise.all(Array.from({ length: 4 }, () => run.append(messageId, `${written++},`)));
      })();
      for (let index = 0; index < people.length; index += 10)
        await Promise.all(people.slice(index, index + 10).map((person) => person.follow(chatId)));
      isOver = true;
      await writing;
      await run.close();
      const whole = Array.from({ length: written }, (_, index) => `${index},`).join('');
      for (const person of people) {
        await person.ended(chatId, run.requestId);
        expect(person.chats.get(chatId)?.text(run.requestId)).toBe(whole);
      }
      await expectConsistent(url, chatId, [here.person, people[0]!, people.at(-1)!]);
    },
  );

  test('SUB-3, C40: events newer than the position of a page, applied on top of it, give the chat', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    const writing = (async () => {
      for (let index = 0; index < 100; index++) await run.append(messageId, `${index},`);
      await run.close();
    })();
    const pages: { messages: Message[]; position: { epoch: string; offset: number } }[] = [];
    while (here.view.ends(run.requestId).length === 0) pages.push(await person.do('message:list', { chatId }));
    await writing;
    expect(pages.length).toBeGreaterThan(3);
    const events = here.view.events;
    for (const { messages, position } of pages) {
      const later = events.filter((event) => event.offset > position.offset && event.type === 'message.appended') as {
        text: string;
      }[];
      const content = messages.find((message) => message.messageId === messageId)?.props['content'] as string;
      expect(content + later.map(({ text }) => text).join('')).toBe(here.view.text(run.requestId));
    }
  });

  test('SUB-5: subscribing twice on one connection is one subscription; unsubscribing ends it', async () => {
    const here = await scene({ env: { COALESCE_MS: '0' } });
    const { person, chatId } = here;
    const run = await here.turn();
    const [a, b] = await Promise.all([
      person.do('chat:subscribe', { chatId }),
      person.do('chat:subscribe', { chatId, position: here.view.position }),
    ]);
    expect([a.mode, b.mode]).toEqual(['snapshot', 'replay']);
    const messageId = await run.send('once');
    await until(() => here.view.text(run.requestId) === 'once', 'the text');
    const batches: ChatEvent[][] = [];
    person.socket.on('events', (batch: ChatEvent[]) => batches.push(batch));
    await run.append(messageId, ' more');
    await until(() => here.view.text(run.requestId) === 'once more', 'the text');
    expect(batches.flat()).toHaveLength(1);
    await person.do('chat:unsubscribe', { chatId });
    await run.append(messageId, ' unheard');
    await run.close();
    await person.do('chat:list');
    expect(batches.flat()).toHaveLength(1);
    expect(await person.do('chat:unsubscribe', { chatId })).toEqual({ chatId });
    expect(await person.do('chat:unsubscribe', { chatId: 'unknown' })).toEqual({ chatId: 'unknown' });
  });
});

describe('SUB-4: coming back', () => {
  test('C39: an event that was missed once is replayed once, however often one leaves and comes back', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    await until(() => here.view.view?.turns.get(run.requestId)?.status === 'running', 'the start');
    person.drop();
    await until(() => person.disconnectReason, 'the cut');
    await run.send('missed');
    for (let round = 0; round < 5; round++) {
      await person.open();
      await person.follow(chatId);
      expect(
        here.view.events.filter(({ type, requestId }) => type === 'message.created' && requestId === run.requestId)
          .length,
      ).toBe(2);
      person.drop();
      await until(() => person.disconnectReason, 'the cut');
    }
  });

  test('C17: five reconnects in one stream, two more turns, a restart and another turn: every text is whole', async () => {
    const here = await scene({ env: { COALESCE_MS: '1' } });
    const { person, chatId, view } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    let whole = '';
    const write = async (count: number) => {
      for (let index = 0; index < count; index++) {
        whole += `${index},`;
        await run.append(messageId, `${index},`);
      }
    };
    for (let round = 0; round < 5; round++) {
      await write(20);
      person.drop();
      await until(() => person.disconnectReason, 'the cut');
      await write(20);
      await person.open();
      await person.follow(chatId);
      expect(person.hello?.connectionId).toBeTruthy();
    }
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(view.text(run.requestId)).toBe(whole);
    for (const text of ['second', 'third']) {
      const next = await here.turn();
      await next.send(text);
      await next.close();
      await person.ended(chatId, next.requestId);
      expect(view.text(next.requestId)).toBe(text);
    }
    const held = view.position!;
    await here.server.close();
    const server = await startServer({ dataDir: here.server.dataDir });
    const agent = await new Agent(server.url, ['bot']).join();
    const later = await new Person(server.url).open();
    const answer = await later.do<SubscribeResult>('chat:subscribe', { chatId, position: held });
    // Where nodes keep the log in Redis it has gone on, and there was nothing to miss.
    if (answer.mode === 'replay') expect(answer).toMatchObject({ position: held, events: [] });
    else expect(answer.position.epoch).not.toBe(held.epoch);
    const again = await later.follow(chatId);
    expect(again.messages.map(plain)).toEqual(view.messages.map(plain));
    const { turn } = await later.start(chatId, 'go');
    const last = await agent.run(turn.requestId);
    await last.send('fourth');
    await last.close();
    await later.ended(chatId, turn.requestId);
    expect(again.messages.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await expectConsistent(server.url, chatId, [later]);
  });
});
