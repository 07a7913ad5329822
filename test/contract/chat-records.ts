import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FencedOut } from '../../server/ports/fence.js';
import type { ChatRecords, RecordEntry } from '../../server/ports/chat-records.js';

export interface RecordsUnderTest {
  readonly records: ChatRecords;
  /** The service loses all that it holds. */
  loseAll(): Promise<void>;
  close(): Promise<void>;
}

let made = 0;
const aChatId = (): string => `chat-${String(++made)}`;

const event = (n: number, attempt: string | null = null): RecordEntry => ({
  kind: 'event',
  attempt,
  json: JSON.stringify({ offset: n, text: 'ä"\n' }),
});
const note = (attempt: string, what: string): RecordEntry => ({ kind: 'note', attempt, json: JSON.stringify([what]) });

/**
 * Every promise of the port, as tests.
 *
 * @param open records whose logs keep 100 events, or 10,000 units of JSON
 */
export function chatRecordsContract(name: string, open: () => Promise<RecordsUnderTest>): void {
  describe(`chat records contract: ${name}`, () => {
    let a: RecordsUnderTest;
    let b: RecordsUnderTest;
    beforeAll(async () => {
      a = await open();
      b = await open();
    });
    afterAll(async () => {
      await a.close();
      await b.close();
    });
    const nothing = { lost: [], gone: [] };

    it('LIF-4: what was committed is found by the next owner, in order; what was not is not', async () => {
      const chatId = aChatId();
      const { record, left } = await a.records.open(chatId, 1);
      expect(left).toEqual([]);
      const entries = [note('r.1', 'begin'), event(1), event(2, 'r.1'), note('r.1', 'step'), event(3, 'r.1')];
      for (const entry of entries.slice(0, 3)) record.add(entry);
      expect(await a.records.commit()).toEqual(nothing);
      for (const entry of entries.slice(3)) record.add(entry);
      expect(await a.records.commit()).toEqual(nothing);
      record.add(event(4, 'r.1'));
      expect((await b.records.open(chatId, 2)).left).toEqual(entries);
    });

    it('LIF-4: nothing is added under a fence that another has followed, and the owner before is told', async () => {
      const [chatId, other] = [aChatId(), aChatId()];
      const { record } = await a.records.open(chatId, 1);
      const { record: kept } = await a.records.open(other, 1);
      record.add(event(1));
      await a.records.commit();
      await b.records.open(chatId, 2);
      record.add(event(2));
      kept.add(event(1));
      expect(await a.records.commit()).toEqual({ lost: [{ chatId, fence: 1 }], gone: [] });
      expect([record.isOutlived, kept.isOutlived]).toEqual([true, false]);
      await expect(a.records.open(chatId, 1)).rejects.toThrow(FencedOut);
      expect((await b.records.open(chatId, 3)).left).toEqual([event(1)]);
      expect((await b.records.open(other, 2)).left).toEqual([event(1)]);
    });

    it('LIF-4: the next owner is told whether the one before has left the chat whole', async () => {
      const chatId = aChatId();
      const { record, isSealed } = await a.records.open(chatId, 1);
      expect(isSealed).toBe(false);
      record.add(event(1));
      await a.records.commit();
      record.add(event(2));
      await a.records.seal(record);
      // What is added to a sealed record is added to nothing.
      record.add(event(3));
      expect(await a.records.commit()).toEqual(nothing);
      const next = await b.records.open(chatId, 2);
      expect(next).toMatchObject({ left: [event(1), event(2)], isSealed: true });
      // Dead, and so is one that did no more than open it.
      expect(await a.records.open(chatId, 3)).toMatchObject({ left: [event(1), event(2)], isSealed: false });
      expect((await b.records.open(chatId, 4)).isSealed).toBe(false);
    });

    it('LIF-4: an owner that has lost a chat seals nothing', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      await b.records.open(chatId, 2);
      await a.records.seal(record);
      expect((await b.records.open(chatId, 3)).isSealed).toBe(false);
    });

    it('LIF-4: a record that has lost something is not sealed, unless it was restarted', async () => {
      const [chatId, other] = [aChatId(), aChatId()];
      const { record } = await a.records.open(chatId, 1);
      const { record: again } = await a.records.open(other, 1);
      for (const each of [record, again]) each.add(event(1));
      a.records.discard();
      again.restart();
      for (const each of [record, again]) await a.records.seal(each);
      expect((await b.records.open(chatId, 2)).isSealed).toBe(false);
      expect((await b.records.open(other, 2)).isSealed).toBe(true);
    });

    it('SUB-2, LIF-4: behind one that was not left whole a record is sealed only with an event of its own', async () => {
      const chatId = aChatId();
      const { record: dead } = await a.records.open(chatId, 1);
      dead.add(event(1));
      await a.records.commit();
      for (const fence of [2, 3, 4]) {
        const { record, left, isSealed } = await b.records.open(chatId, fence);
        expect(isSealed).toBe(false);
        // Also where the service had been away, and what is not taken up yet is recorded anew.
        if (fence === 3) record.restart(left);
        if (fence === 4) record.add(event(2));
        await b.records.seal(record);
      }
      expect(await b.records.open(chatId, 5)).toMatchObject({ left: [event(1), event(2)], isSealed: true });
    });

    it('LIF-4: of a record that is restarted there stands what owners before have left', async () => {
      const chatId = aChatId();
      const { record: dead } = await a.records.open(chatId, 1);
      for (const entry of [event(1), note('r.1', 'begin')]) dead.add(entry);
      await a.records.seal(dead);
      const { record, left } = await b.records.open(chatId, 2);
      record.restart(left);
      await b.records.seal(record);
      expect(await b.records.open(chatId, 3)).toMatchObject({ left, isSealed: true });
    });

    it('of an attempt that was forgotten nothing is left but its events in the log, also when a later owner forgets it', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      for (const entry of [note('r.1', 'begin'), event(1, 'r.1'), note('s.1', 'begin'), event(2, 's.1')])
        record.add(entry);
      record.forget('r.1');
      await a.records.commit();
      const next = await b.records.open(chatId, 2);
      expect(next.left).toEqual([event(1), note('s.1', 'begin'), event(2, 's.1')]);
      next.record.forget('s.1');
      await b.records.commit();
      expect((await a.records.open(chatId, 3)).left).toEqual([event(1), event(2)]);
    });

    it.each([
      ['events', 100, ''],
      ['bytes', 20, 'x'.repeat(500)],
    ])('LIF-3: the log is bounded by its %s, and keeps the newest', async (_, kept, text) => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      const long = (n: number): RecordEntry => ({ kind: 'event', attempt: null, json: JSON.stringify({ n, text }) });
      for (let n = 1; n <= 400; n++) {
        record.add(long(n));
        await a.records.commit();
      }
      const { left } = await b.records.open(chatId, 2);
      expect(left.length).toBeGreaterThanOrEqual(Math.min(kept, 19));
      expect(left.length).toBeLessThan(kept + 64);
      expect(left).toEqual(Array.from({ length: left.length }, (_, n) => long(400 - left.length + n + 1)));
    });

    it('TRN-6: an attempt that is not stored keeps all of its entries, however many come behind them', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      record.add(note('r.1', 'begin'));
      for (let n = 1; n <= 400; n++) {
        record.add(event(n, n < 10 ? 'r.1' : null));
        await a.records.commit();
      }
      const { left } = await b.records.open(chatId, 2);
      expect(left).toHaveLength(401);
      expect(left[0]).toEqual(note('r.1', 'begin'));
    });

    it('many chats are written by one commit, each apart', async () => {
      const chatIds = Array.from({ length: 200 }, aChatId);
      const opened = await Promise.all(chatIds.map((chatId) => a.records.open(chatId, 1)));
      for (const [n, { record }] of opened.entries()) for (let m = 0; m < 5; m++) record.add(event(n * 10 + m));
      expect(await a.records.commit()).toEqual(nothing);
      for (const [n, chatId] of chatIds.entries()) {
        const { left } = await b.records.open(chatId, 2);
        expect(left).toEqual([0, 1, 2, 3, 4].map((m) => event(n * 10 + m)));
      }
    });

    it('a service that lost its data says so, and holds again what is added to a record opened anew', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      record.add(event(1));
      await a.records.commit();
      await a.loseAll();
      record.add(event(2));
      expect(await a.records.commit()).toEqual({ lost: [], gone: [chatId] });
      record.restart();
      record.add(event(3));
      expect(await a.records.commit()).toEqual(nothing);
      expect((await b.records.open(chatId, 2)).left).toEqual([event(3)]);
    });

    it('of a record that is restarted nothing stands that was added before', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      record.add(note('r.1', 'begin'));
      await a.records.commit();
      record.add(event(1));
      record.restart();
      record.add(note('r.1', 'again'));
      await a.records.commit();
      expect((await b.records.open(chatId, 2)).left).toEqual([note('r.1', 'again')]);
      record.restart();
      record.add(event(2));
      expect(await a.records.commit()).toEqual({ lost: [{ chatId, fence: 1 }], gone: [] });
      expect((await b.records.open(chatId, 3)).left).toEqual([note('r.1', 'again')]);
    });

    it('what is discarded is not written by the next commit', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      record.add(event(1));
      a.records.discard();
      expect(await a.records.commit()).toEqual(nothing);
      record.add(event(2));
      await a.records.commit();
      expect((await b.records.open(chatId, 2)).left).toEqual([event(2)]);
    });

    it('a closed record adds nothing', async () => {
      const chatId = aChatId();
      const { record } = await a.records.open(chatId, 1);
      record.close();
      record.add(event(1));
      await a.records.commit();
      expect((await b.records.open(chatId, 2)).left).toEqual([]);
    });
  });
}
