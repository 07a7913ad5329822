import { describe, expect, test } from 'vitest';
import type { ChatEvent } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { expectGrammar } from './grammar.js';
import { scene } from './scene.js';

// What subscribers are sent goes one of two ways (docs/decisions/0002): both say the same.
describe.each([true, false])('SUB-3, TRN-4: events on both paths (direct fan-out: %s)', (isDirectFanOut) => {
  test('SUB-3: events of every length, in every script, whole and in order', async () => {
    const here = await scene({ isDirectFanOut, env: { COALESCE_MS: '0' } });
    const { chatId, person } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    let whole = '';
    // Around the lengths at which a WebSocket frame gets a longer head, in one, two, three and four bytes a character.
    for (const length of [0, 1, 30, 125, 126, 127, 1000, 65_000, 65_535, 65_536, 65_600, 200_000]) {
      for (const character of ['a', 'é', '語', '😀']) {
        const text = character.repeat(Math.ceil(length / Buffer.byteLength(character)));
        whole += text;
        await run.append(messageId, text);
      }
    }
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(whole);
    expectGrammar(here.view.events);
  });

  test('SUB-3, CON-4: acks, signals, presence and events share a connection without breaking each other', async () => {
    const here = await scene({ isDirectFanOut, env: { COALESCE_MS: '1' } });
    const { chatId, person } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    const work: Promise<unknown>[] = [];
    for (let index = 0; index < 200; index++) {
      work.push(run.push({ op: 'append', messageId, text: `${index},` }, { op: 'signal', name: 'n', data: index }));
      work.push(person.do('message:list', { chatId }), person.do('typing', { chatId, typing: index % 2 === 0 }));
      if (index % 20 === 0) work.push(person.do('chat:update', { chatId, title: `${index}` }));
      if (index % 50 === 0) await Promise.all(work.splice(0));
    }
    await Promise.all(work);
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(Array.from({ length: 200 }, (_, index) => `${index},`).join(''));
    expect(person.signals.map(({ data }) => data)).toEqual(Array.from({ length: 200 }, (_, index) => index));
    expectGrammar(here.view.events);
    await expectConsistent(here.url, chatId, [person]);
  });

  test('SUB-3: many chats on one connection; each batch is of one chat, with consecutive offsets', async () => {
    const here = await scene({ isDirectFanOut });
    const raw = await RawSocket.open(here.url);
    const chats = await Promise.all(Array.from({ length: 10 }, () => here.person.createChat()));
    for (const chatId of chats) await raw.ask('chat:subscribe', JSON.stringify({ chatId }));
    await Promise.all(
      chats.map((chatId, index) =>
        here.person.start(chatId, `the words of chat ${index}`, { metadata: { delayMs: 1 } }),
      ),
    );
    for (const chatId of chats)
      await raw.packet((packet) => packet.includes('"turn.ended"') && packet.includes(chatId), `the end in ${chatId}`);
    const batches = raw.bodies<ChatEvent[]>('events');
    for (const batch of batches) {
      expect(batch.length).toBeGreaterThan(0);
      expect(new Set(batch.map(({ chatId }) => chatId)).size).toBe(1);
      expect(batch.map(({ offset }) => offset)).toEqual(batch.map((_, index) => batch[0]!.offset + index));
    }
    for (const [index, chatId] of chats.entries()) {
      const events = batches.flat().filter((event) => event.chatId === chatId);
      expect(events.map(({ offset }) => offset)).toEqual(events.map((_, place) => place + 1));
      expect(events.flatMap((event) => ('text' in event ? [event.text] : [])).join('')).toBe(
        `the words of chat ${index}`,
      );
    }
  });

  test('TRN-4: followers who come and go in the middle do not disturb those who stay', async () => {
    const here = await scene({ isDirectFanOut, env: { COALESCE_MS: '1' } });
    const { url, chatId, person } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    for (let round = 0; round < 15; round++) {
      const guest = await new Person(url).open();
      const writing = Promise.all(
        Array.from({ length: 10 }, (_, index) => run.append(messageId, `${round}.${index},`)),
      );
      await guest.follow(chatId);
      if (round % 3 === 0) guest.drop();
      else if (round % 3 === 1) await guest.do('chat:unsubscribe', { chatId });
      else guest.close();
      await writing;
    }
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(
      Array.from({ length: 15 }, (_, round) =>
        Array.from({ length: 10 }, (__, index) => `${round}.${index},`).join(''),
      ).join(''),
    );
    await expectConsistent(url, chatId, [person]);
  });
});
