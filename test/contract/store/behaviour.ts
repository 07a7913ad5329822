import { describe, expect, it } from 'vitest';
import type { Store } from '../../../server/ports/store.js';
import {
  aBegin,
  aChat,
  aMessage,
  aRecord,
  aStep,
  aTurn,
  anEnd,
  at,
  begun,
  filterOf,
  stored,
  type StoreUnderTest,
} from './values.js';

/** How the store behaves under load, beside other processes, and at its end. */
export function behaviourContract(open: () => StoreUnderTest, another: () => Promise<StoreUnderTest>): void {
  const store = (): Store => open().store;
  const answers = (requestId: string, chatId: string, count: number) =>
    Array.from({ length: count }, (_, n) => aMessage(chatId, n + 2, { requestId }));

  /**
   * The longest time in milliseconds between two turns of the event loop while `work` runs, in which this process was at
   * work: where others have the processor, that is not the store's doing.
   */
  async function longestHold(work: () => Promise<unknown>): Promise<number> {
    const spentMs = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
    let last = performance.now();
    let lastSpent = spentMs();
    let longest = 0;
    let running = true;
    const watch = (): void => {
      const [now, spent] = [performance.now(), spentMs()];
      longest = Math.max(longest, Math.min(now - last, spent - lastSpent));
      [last, lastSpent] = [now, spent];
      if (running) setImmediate(watch);
    };
    setImmediate(watch);
    await work();
    running = false;
    return longest;
  }

  describe('behaviour', () => {
    it('C22: 100 turns end at once while readers read: all is stored, none fails', async () => {
      const records = await Promise.all(Array.from({ length: 100 }, () => begun(store())));
      let reading = true;
      let reads = 0;
      const reader = async (): Promise<void> => {
        for (let n = 0; reading; n++, reads++) {
          const { turn } = records[n % records.length]!;
          const { length } = await store().getMessages(turn.chatId, {});
          // The input alone, or the whole answer with it: never a part.
          expect([1, 6]).toContain(length);
          await store().getTurn(turn.requestId);
        }
      };
      const readers = [reader(), reader(), reader()];
      await Promise.all(
        records.map((record) => {
          const { chatId, requestId } = record.turn;
          const messages = answers(requestId, chatId, 5);
          return store().write([anEnd(record, { messages, steps: [aStep(record.turn, 1)], lastSequence: 6 })]);
        }),
      );
      reading = false;
      await Promise.all(readers);
      expect(reads).toBeGreaterThan(0);
      for (const { turn } of records) {
        expect(await store().getMessages(turn.chatId, {})).toHaveLength(6);
        expect(await store().getTurn(turn.requestId)).toMatchObject({ turn: { status: 'completed' } });
      }
    });

    it('writes of every kind at once do not disturb each other', async () => {
      const chats = await Promise.all(Array.from({ length: 40 }, () => stored(store())));
      await Promise.all(
        chats.flatMap(({ chatId }, n) => {
          const record = aRecord(aTurn(chatId));
          return [
            store().updateChat(chatId, { title: `title ${n}` }, at(1)),
            store().saveMessages(chatId, [aMessage(chatId, 1)]),
            store().write([aBegin(record, { messages: [aMessage(chatId, 2, { requestId: record.turn.requestId })] })]),
            store().createChat(aChat()),
          ];
        }),
      );
      for (const { chatId } of chats) expect(await store().nextSequence(chatId)).toBe(3);
    });

    it('thousands of reads at once each get their own answer', async () => {
      const records = await Promise.all(Array.from({ length: 1500 }, () => begun(store())));
      const chats = await Promise.all(records.map(({ turn }) => store().getChat(turn.chatId)));
      expect(chats.map((chat) => chat?.chatId)).toEqual(records.map(({ turn }) => turn.chatId));
      expect(await Promise.all(records.map(({ turn }) => store().getTurn(turn.requestId)))).toEqual(records);
      const next = await Promise.all(records.map(({ turn }) => store().nextSequence(turn.chatId)));
      expect(new Set(next)).toEqual(new Set([2]));
    });

    it('what a transaction that fails has written is never seen, and what others wrote meanwhile stays', async () => {
      const record = await begun(store());
      const taken = await begun(store());
      const { chatId, requestId } = record.turn;
      const messages = answers(requestId, chatId, 3000);
      const failing = store().write([anEnd(record, { messages }), aBegin({ ...taken, fingerprint: 'another' })]);
      const seen: number[] = [];
      let running = true;
      const settled = expect(failing)
        .rejects.toMatchObject({ code: 'conflict' })
        .finally(() => (running = false));
      const bystander = aChat();
      const created = store().createChat(bystander);
      while (running) {
        seen.push((await store().getMessages(chatId, { limit: 5 })).length);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await settled;
      await created;
      expect(seen.length).toBeGreaterThan(1);
      expect(new Set(seen)).toEqual(new Set([1]));
      expect(await store().getTurn(requestId)).toEqual(record);
      expect(await store().getChat(bystander.chatId)).toEqual(bystander);
    });

    it('the event loop turns while 10,000 messages are written, read and deleted, and 1,000 readers come at once', async () => {
      const record = await begun(store());
      const { chatId, requestId } = record.turn;
      const messages = answers(requestId, chatId, 10_000);
      const hold = {
        write: await longestHold(() => store().write([anEnd(record, { messages })])),
        read: await longestHold(() => store().getMessages(chatId, {})),
        reads: await longestHold(() =>
          Promise.all(Array.from({ length: 1000 }, () => store().getMessages(chatId, { limit: 20 }))),
        ),
        delete: await longestHold(() => store().deleteChat(chatId, at(9))),
      };
      // Tens of milliseconds at most where the machine is not busy with something else; a stretch would be hundreds.
      for (const [what, longest] of Object.entries(hold)) expect(longest, what).toBeLessThan(150);
    });

    it('the event loop turns while 32 MiB are written, read and deleted, whatever they are made of', async () => {
      const MiB = 1024 * 1024;
      const text = 'é'.repeat(2 * MiB - 200);
      const record = await begun(store());
      const { chatId, requestId } = record.turn;
      const messages = answers(requestId, chatId, 4).map((message) => ({ ...message, props: { content: text } }));
      const steps = [1, 2, 3, 4].map((n) =>
        aStep(record.turn, n, { input: text.slice(MiB), output: { text: text.slice(MiB) } }),
      );
      const hold = {
        write: await longestHold(() => store().write([anEnd(record, { messages, steps })])),
        read: await longestHold(async () => {
          expect((await store().getMessages(chatId, { limit: 4 })).slice(-4)).toEqual(messages);
        }),
        steps: await longestHold(async () => {
          expect(await store().getSteps(requestId)).toEqual(steps);
        }),
        delete: await longestHold(() => store().deleteChat(chatId, at(9))),
      };
      for (const [what, longest] of Object.entries(hold)) expect(longest, what).toBeLessThan(300);
    });

    it('a database that another process has locked is said to be so at once, and works again afterwards', async () => {
      const record = await begun(store());
      const release = await open().lock();
      try {
        const writes: (() => Promise<unknown>)[] = [
          () => store().write([anEnd(record)]),
          () => store().updateChat(record.turn.chatId, { title: 'x' }, at(1)),
          () => store().saveMessages(record.turn.chatId, [aMessage(record.turn.chatId, 2)]),
          () => store().createChat(aChat()),
          () => store().deleteChat(record.turn.chatId, at(1)),
        ];
        for (const write of writes) {
          // The best of three: a test that shares its machine is late at times.
          const waits: number[] = [];
          for (let attempt = 0; attempt < 3; attempt++) {
            const started = performance.now();
            await expect(write()).rejects.toMatchObject({ code: 'storage_unavailable', retryable: true });
            waits.push(performance.now() - started);
          }
          expect(Math.min(...waits)).toBeLessThan(open().lockSaidMs);
        }
        // Readers are not concerned.
        expect(await store().getTurn(record.turn.requestId)).toEqual(record);
      } finally {
        await release();
      }
      await store().write([anEnd(record)]);
      expect(await store().getTurn(record.turn.requestId)).toMatchObject({ turn: { status: 'completed' } });
      await store().createChat(aChat());
    });

    it('C48: times are the same moments in every time zone, in one format', async () => {
      const zone = process.env.TZ;
      // Newfoundland's clocks jump at the second one; the third is a new year in Tokyo.
      const moments = ['2026-03-08T05:29:59.999Z', '2026-03-08T05:30:00.000Z', '2026-12-31T15:00:00.001Z'];
      const tenantId = `tenant-of-${Date.now()}`;
      try {
        for (const TZ of ['America/St_Johns', 'Asia/Tokyo', 'UTC']) {
          process.env.TZ = TZ;
          for (const time of moments) {
            const chat = aChat({ tenantId, createdAt: time, updatedAt: time, lastMessageAt: time });
            const record = aRecord(aTurn(chat.chatId, { createdAt: time }));
            const message = aMessage(chat.chatId, 1, {
              requestId: record.turn.requestId,
              createdAt: time,
              updatedAt: time,
            });
            await store().createChat(chat);
            await store().write([aBegin(record, { messages: [message], at: time })]);
            const updatedAt = time;
            const step = aStep(record.turn, 1, { createdAt: time, updatedAt });
            await store().write([anEnd(record, { turn: { startedAt: time, endedAt: time }, steps: [step], at: time })]);
            await store().updateMessage(message.messageId, { type: 'text' }, time);
            expect(await store().updateChat(chat.chatId, { title: TZ }, time)).toEqual({ ...chat, title: TZ });
            expect(await store().getMessages(chat.chatId, {})).toEqual([message]);
            expect(await store().getTurn(record.turn.requestId)).toMatchObject({
              turn: { createdAt: time, startedAt: time, endedAt: time },
            });
            expect(await store().getSteps(record.turn.requestId)).toEqual([step]);
            await store().deleteMessages(chat.chatId, [message.messageId], time);
          }
        }
        for (const [index, time] of moments.entries()) {
          const exact = { startTime: time, endTime: time };
          expect((await store().listChats(filterOf({ tenantId, ...exact }))).total).toBe(3);
          expect((await store().listChats(filterOf({ tenantId, startTime: time }))).total).toBe(3 * (3 - index));
        }
      } finally {
        if (zone === undefined) delete process.env.TZ;
        else process.env.TZ = zone;
      }
      const times = await open().storedTimes();
      expect(times.length).toBeGreaterThan(50);
      expect(new Set(times.map((time) => time.replaceAll(/\d/g, '0')))).toHaveLength(1);
    });

    it('counts each read and each write once', async () => {
      const { transactions } = open();
      const chat = aChat();
      const cases: [() => Promise<unknown>, 'read' | 'write'][] = [
        [() => store().createChat(chat), 'write'],
        [() => store().updateChat(chat.chatId, { title: 'x' }, at(1)), 'write'],
        [() => store().saveMessages(chat.chatId, [aMessage(chat.chatId, 1), aMessage(chat.chatId, 2)]), 'write'],
        [() => store().getMessages(chat.chatId, {}), 'read'],
        [() => store().listChats(filterOf({})), 'read'],
        [() => store().deleteChat(chat.chatId, at(1)), 'write'],
      ];
      for (const [work, kind] of cases) {
        const before = { ...transactions };
        await work();
        expect(transactions).toEqual({ ...before, [kind]: before[kind] + 1 });
      }
    });

    it('closing waits for what is running; afterwards the store says that it is closed', async () => {
      const closing = await another();
      const own = closing.store;
      const record = await begun(own);
      const { chatId, requestId } = record.turn;
      const writing = own.write([anEnd(record, { messages: answers(requestId, chatId, 2000) })]);
      const reading = own.getMessages(chatId, {});
      await closing.close();
      await writing;
      expect(await reading).toHaveLength(1);
      await expect(own.getChat(chatId)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(own.write([anEnd(record)])).rejects.toMatchObject({ code: 'storage_unavailable' });
      await own.close();
    });

    it('what was written is there for who opens the database next', async () => {
      await store().ping();
      const record = await begun(store());
      const other = await another();
      try {
        await other.store.ping();
        expect(await store().getTurn(record.turn.requestId)).toEqual(record);
      } finally {
        await other.close();
      }
    });
  });
}
