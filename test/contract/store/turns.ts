import { describe, expect, it } from 'vitest';
import type { Store, TurnRecord } from '../../../server/ports/store.js';
import { aBegin, aRecord, aTurn, anEnd, anId, at, begun, interrupted, stored, type StoreUnderTest } from './values.js';

export function turnContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;
  const idsOf = (records: readonly TurnRecord[]): string[] => records.map(({ turn }) => turn.requestId);

  describe('turns', () => {
    it('a turn comes back as it was begun, and as it ended', async () => {
      const { chatId } = await stored(store());
      const record = aRecord(aTurn(chatId, { background: true, metadata: { model: 'x', n: [1] }, createdBy: 'bob' }), {
        regenerates: 'request-before',
        openedBy: 'agent-7',
      });
      const { requestId } = record.turn;
      await store().write([aBegin(record)]);
      expect(await store().getTurn(requestId)).toEqual(record);
      const end = anEnd(record, {
        turn: {
          status: 'failed',
          stopReason: 'error',
          error: { code: 'overloaded', message: 'Try again "later"' },
          usage: { inputTokens: 12, models: ['a', 'b'] },
        },
      });
      await store().write([end]);
      expect(await store().getTurn(requestId)).toEqual(end.record);
      expect(await store().getTurn(anId('request'))).toBeNull();
    });

    it('gives those that exist of a list of ids, also of 40,000', async () => {
      const [a, b] = [await begun(store()), await begun(store())];
      const asked = [b.turn.requestId, anId('request'), a.turn.requestId];
      expect(idsOf(await store().getTurns(asked)).sort()).toEqual(idsOf([a, b]).sort());
      expect(await store().getTurns([])).toEqual([]);
      const nobody = Array.from({ length: 40_000 }, (_, n) => `nobody-${n}`);
      expect(idsOf(await store().getTurns([...nobody, a.turn.requestId]))).toEqual(idsOf([a]));
    });

    it('lists newest first by when they were begun, in pages, the incomplete ones alone where asked', async () => {
      const { chatId } = await stored(store());
      const records = [1, 2, 3, 4, 5].map((n) => aRecord(aTurn(chatId, { createdAt: at(10 - n) })));
      const [one, two, three, four, five] = idsOf(records);
      for (const record of records) await store().write([aBegin(record)]);
      await store().write([anEnd(records[0]!, { turn: { status: 'interrupted', stopReason: 'stopped' } })]);
      await store().write([anEnd(records[1]!)]);
      await store().write([anEnd(records[2]!, { turn: { status: 'failed', stopReason: 'error' } })]);
      await store().write([anEnd(records[3]!)]);
      const elsewhere = await begun(store());

      const list = async (query: Parameters<Store['listTurns']>[1]): Promise<string[]> =>
        idsOf(await store().listTurns(chatId, query));
      expect(await list({ limit: 10 })).toEqual([five, four, three, two, one]);
      expect(await list({ limit: 2 })).toEqual([five, four]);
      expect(await list({ limit: 2, before: four! })).toEqual([three, two]);
      expect(await list({ limit: 2, before: one! })).toEqual([]);
      expect(await list({ limit: 10, incomplete: true })).toEqual([three, one]);
      expect(await list({ limit: 1, incomplete: true })).toEqual([three]);
      expect(await list({ limit: 1, incomplete: true, before: four! })).toEqual([three]);
      expect(await list({ limit: 1, incomplete: true, before: three! })).toEqual([one]);
      for (const before of [anId('request'), elsewhere.turn.requestId])
        await expect(list({ limit: 2, before })).rejects.toMatchObject({
          code: 'not_found',
          details: { path: 'before' },
        });
    });

    it('gives the queued turns of all chats, oldest first', async () => {
      const [first, second, third] = [await begun(store()), await begun(store()), await begun(store())];
      await store().write([anEnd(second)]);
      const mine = new Set(idsOf([first, second, third]));
      const queued = async (): Promise<string[]> => idsOf(await store().queuedTurns()).filter((id) => mine.has(id));
      expect(await queued()).toEqual(idsOf([first, third]));
      await store().deleteChat(first.turn.chatId, at(9));
      expect(await queued()).toEqual(idsOf([third]));
    });

    it('TRN-3: those that wait are in the order in which they began to: a resumed turn behind what waited before it', async () => {
      const first = await interrupted(store());
      const { chatId } = first.turn;
      const second = aRecord(aTurn(chatId));
      await store().write([aBegin(second, { at: at(20) })]);
      const again = { ...first, turn: { ...first.turn, status: 'queued' as const, attempt: 2, stopReason: null } };
      await store().write([aBegin(again, { at: at(21) })]);
      expect(idsOf(await store().queuedTurns(chatId))).toEqual(idsOf([second, first]));
    });

    it('knows every request id that was ever used', async () => {
      const record = await begun(store());
      const { requestId, chatId } = record.turn;
      expect(await store().chatOfRequest(requestId)).toBe(chatId);
      await store().deleteChat(chatId, at(9));
      expect(await store().chatOfRequest(requestId)).toBe(chatId);
      expect(await store().chatOfRequest(anId('request'))).toBeNull();
    });
  });
}
