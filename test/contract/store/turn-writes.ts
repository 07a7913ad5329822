import { describe, expect, it } from 'vitest';
import type { Store, TurnRecord } from '../../../server/ports/store.js';
import {
  aBegin,
  aChat,
  aMessage,
  aRecord,
  aStep,
  aTurn,
  anEnd,
  anId,
  at,
  begun,
  sequences,
  stored,
  type StoreUnderTest,
} from './values.js';

export function turnWriteContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;

  /** All that is stored of a turn's chat. */
  async function everything({ turn }: TurnRecord) {
    return {
      chat: await store().getChat(turn.chatId),
      turn: await store().getTurn(turn.requestId),
      messages: await store().getMessages(turn.chatId, {}),
      steps: await store().getSteps(turn.requestId),
      next: await store().nextSequence(turn.chatId),
    };
  }
  const answer = (record: TurnRecord, sequence: number) =>
    aMessage(record.turn.chatId, sequence, { requestId: record.turn.requestId });

  describe('write 1', () => {
    it('stores the chat, the turn and its input in one transaction', async () => {
      const chat = aChat({ title: 'Привіт', teamId: 'blue', tenantId: 'acme' });
      const record = aRecord(aTurn(chat.chatId));
      const messages = [1, 2, 3].map((n) =>
        aMessage(chat.chatId, n, { role: 'user', requestId: record.turn.requestId }),
      );
      const before = { ...open().transactions };
      await store().write([aBegin(record, { messages, newChat: chat, at: at(4) })]);
      expect(open().transactions).toEqual({ read: before.read, write: before.write + 1 });
      expect(await everything(record)).toEqual({
        chat: { ...chat, lastMessageAt: at(3), updatedAt: at(4) },
        turn: record,
        messages,
        steps: [],
        next: 4,
      });
    });

    it('written again it changes nothing, however far the turn has come', async () => {
      const chat = aChat();
      const record = aRecord(aTurn(chat.chatId));
      const message = aMessage(chat.chatId, 1, { role: 'user', requestId: record.turn.requestId });
      const begin = aBegin(record, { messages: [message], newChat: chat });
      await store().write([begin]);
      await store().write([begin, begin]);
      await store().updateMessage(message.messageId, { props: { content: 'edited' } }, at(5));
      await store().write([anEnd(record, { messages: [answer(record, 2)] })]);
      const before = await everything(record);
      await store().write([begin]);
      await store().write([{ ...begin, newChat: null, at: at(99) }]);
      expect(await everything(record)).toEqual(before);
      await store().deleteMessages(chat.chatId, [message.messageId], at(6));
      await store().write([begin]);
      expect(sequences(await store().getMessages(chat.chatId, {}))).toEqual([2]);
    });

    it('written again while its turn is queued, the input takes the later places that it names', async () => {
      const chat = aChat();
      const record = aRecord(aTurn(chat.chatId));
      const messages = [1, 2].map((n) => aMessage(chat.chatId, n, { role: 'user', requestId: record.turn.requestId }));
      const begin = aBegin(record, { messages, newChat: chat });
      await store().write([begin]);
      const later = messages.map((message, index) => ({ ...message, sequence: 4 + index }));
      await store().write([{ ...begin, newChat: null, messages: later }]);
      expect((await everything(record)).messages).toEqual(later);
      expect((await everything(record)).next).toBe(6);
    });

    it('a request id of another turn is a conflict that stores nothing', async () => {
      const taken = await begun(store());
      const other = await stored(store());
      const { requestId, chatId } = taken.turn;
      const before = await everything(taken);
      const attempts: TurnRecord[] = [
        { ...taken, fingerprint: 'another body' },
        { ...taken, turn: { ...taken.turn, createdBy: 'mallory' } },
        { ...taken, turn: { ...taken.turn, chatId: other.chatId } },
      ];
      for (const record of attempts) {
        const message = aMessage(record.turn.chatId, 7, { role: 'user', requestId });
        await expect(store().write([aBegin(record, { messages: [message] })])).rejects.toMatchObject({
          code: 'conflict',
          details: { requestId },
        });
        await expect(store().write([anEnd(record)])).rejects.toMatchObject({
          code: 'conflict',
          details: { requestId },
        });
      }
      expect(await everything(taken)).toEqual(before);
      expect(await store().getMessages(other.chatId, {})).toEqual([]);
      await store().deleteChat(chatId, at(9));
      await expect(store().write([aBegin(attempts[2]!)])).rejects.toMatchObject({
        code: 'conflict',
        details: { requestId },
      });
    });

    it('a chat id that is taken is a conflict, also a deleted one', async () => {
      const chat = await stored(store(), { title: 'mine', createdBy: 'bob' });
      const record = aRecord(aTurn(chat.chatId));
      const begin = aBegin(record, { newChat: aChat({ chatId: chat.chatId }) });
      const conflict = { code: 'conflict', details: { requestId: record.turn.requestId } };
      await expect(store().write([begin])).rejects.toMatchObject(conflict);
      expect(await store().getChat(chat.chatId)).toEqual(chat);
      await store().deleteChat(chat.chatId, at(1));
      await expect(store().write([begin])).rejects.toMatchObject(conflict);
      expect(await store().chatOfRequest(record.turn.requestId)).toBeNull();

      const fresh = aChat();
      const twice = [1, 2].map(() => aBegin(aRecord(aTurn(fresh.chatId)), { newChat: fresh }));
      await expect(store().write(twice)).rejects.toMatchObject({
        code: 'conflict',
        details: { requestId: twice[1]!.record.turn.requestId },
      });
      expect(await store().isChatIdTaken(fresh.chatId)).toBe(false);
    });

    it('a chat that was deleted, or never was, is not_found and stores nothing', async () => {
      const record = await begun(store());
      await store().deleteChat(record.turn.chatId, at(1));
      const next = aRecord(aTurn(record.turn.chatId));
      const lost = aRecord(aTurn(anId('chat')));
      const resumed = { ...record, turn: { ...record.turn, attempt: 2 } };
      for (const bad of [next, lost, resumed, record]) {
        const message = aMessage(bad.turn.chatId, 5, { requestId: bad.turn.requestId });
        await expect(store().write([aBegin(bad, { messages: [message] })])).rejects.toMatchObject({
          code: 'not_found',
        });
      }
      expect(await open().liveRows(record.turn.chatId)).toBe(0);
      expect(await open().liveRows(lost.turn.chatId)).toBe(0);
    });

    it('TRN-9: a later attempt queues the turn again, an older one changes nothing', async () => {
      const record = await begun(store());
      const failed = anEnd(record, {
        turn: { status: 'failed', stopReason: 'error', error: { code: 'x', message: 'y' }, usage: { n: 1 } },
      });
      await store().write([failed]);
      const second = { ...record, turn: { ...record.turn, attempt: 2 } };
      const before = await store().getMessages(record.turn.chatId, {});
      await store().write([aBegin(second, { at: at(50) })]);
      expect(await store().getTurn(record.turn.requestId)).toEqual(second);
      expect(await store().getMessages(record.turn.chatId, {})).toEqual(before);
      expect(await store().getChat(record.turn.chatId)).toMatchObject({ updatedAt: at(50), lastMessageAt: at(1) });

      await store().write([failed]);
      await store().write([aBegin(record)]);
      expect(await store().getTurn(record.turn.requestId)).toEqual(second);
      const done = anEnd(second);
      await store().write([done]);
      await store().write([aBegin(second)]);
      expect(await store().getTurn(record.turn.requestId)).toEqual(done.record);
    });
  });

  describe('write 2', () => {
    it('stores the end, messages, steps and activity, and takes away what was superseded, in one transaction', async () => {
      const record = await begun(store());
      const { chatId, requestId } = record.turn;
      const superseded = answer(record, 2);
      await store().saveMessages(chatId, [superseded]);
      const messages = [answer(record, 4), answer(record, 3)];
      const steps = [aStep(record.turn, 2, { status: 'interrupted', spaceSnapshot: { a: 1 } }), aStep(record.turn, 1)];
      const end = anEnd(record, {
        turn: { status: 'interrupted', stopReason: 'stopped' },
        messages,
        steps,
        deletedMessageIds: [superseded.messageId, anId('message')],
        lastSequence: 6,
        at: at(30),
      });
      const before = { ...open().transactions };
      await store().write([end]);
      expect(open().transactions).toEqual({ read: before.read, write: before.write + 1 });
      expect(await everything(record)).toMatchObject({
        chat: { lastMessageAt: at(4), updatedAt: at(30) },
        turn: end.record,
        messages: [{ role: 'user', requestId }, messages[1], messages[0]],
        steps: [steps[1], steps[0]],
        next: 7,
      });
      expect(await store().getMessage(superseded.messageId)).toBeNull();
    });

    it('written again it changes nothing, and undoes nothing that came after it', async () => {
      const record = await begun(store());
      const { chatId } = record.turn;
      const [edited, removed] = [answer(record, 2), answer(record, 3)];
      const end = anEnd(record, { messages: [edited, removed], steps: [aStep(record.turn, 1)], lastSequence: 3 });
      await store().write([end]);
      const before = await everything(record);
      await store().write([end]);
      expect(await everything(record)).toEqual(before);

      await store().updateMessage(edited.messageId, { props: { content: 'edited' } }, at(60));
      await store().deleteMessages(chatId, [removed.messageId], at(61));
      const next = await begunIn(chatId);
      await store().write([anEnd(next, { messages: [answer(next, 5)], lastSequence: 5, at: at(70) })]);
      const after = await everything(record);
      await store().write([end]);
      expect(await everything(record)).toEqual(after);
    });

    it('a chat that was deleted meanwhile stays deleted, and the end is a success', async () => {
      const record = await begun(store());
      await store().deleteChat(record.turn.chatId, at(1));
      await store().write([
        anEnd(record, { messages: [answer(record, 2)], steps: [aStep(record.turn, 1)], lastSequence: 2 }),
      ]);
      expect(await open().liveRows(record.turn.chatId)).toBe(0);
      expect(await store().getTurn(record.turn.requestId)).toBeNull();
      expect(await store().getMessages(record.turn.chatId, {})).toEqual([]);
    });

    it('ids of other turns are refused and stay as they are', async () => {
      const victim = await begun(store());
      const message = answer(victim, 2);
      const step = aStep(victim.turn, 1);
      await store().write([anEnd(victim, { messages: [message], steps: [step] })]);
      const elsewhere = await begun(store());
      const sameChat = await begunIn(victim.turn.chatId);
      for (const record of [elsewhere, sameChat]) {
        const { chatId, requestId } = record.turn;
        const stolen = { ...message, chatId, requestId, sequence: 9, props: { content: 'stolen' } };
        const stolenStep = { ...step, step: { ...step.step, chatId, requestId } };
        for (const bad of [{ messages: [stolen] }, { steps: [stolenStep] }]) {
          await expect(store().write([anEnd(record, bad)])).rejects.toMatchObject({
            code: 'conflict',
            details: { requestId },
          });
        }
        expect(await store().getTurn(requestId)).toEqual(record);
      }
      expect(await store().getMessage(message.messageId)).toEqual(message);
      expect(await store().getSteps(victim.turn.requestId)).toEqual([step]);
    });

    it('the end of a turn that was never begun here stores the turn', async () => {
      const { chatId } = await stored(store());
      const record = aRecord(aTurn(chatId));
      const end = anEnd(record, { messages: [answer(record, 1)] });
      await store().write([end]);
      expect(await store().getTurn(record.turn.requestId)).toEqual(end.record);
    });
  });

  describe('write', () => {
    it('many turns are one transaction, all or none', async () => {
      const good = Array.from({ length: 15 }, () => {
        const chat = aChat();
        return aBegin(aRecord(aTurn(chat.chatId)), { newChat: chat });
      });
      const before = open().transactions.write;
      await store().write([]);
      expect(open().transactions.write).toBe(before);
      const taken = await begun(store());
      const bad = aBegin({ ...taken, fingerprint: 'another' });
      await expect(store().write([...good.slice(0, 7), bad, ...good.slice(7)])).rejects.toMatchObject({
        code: 'conflict',
        details: { requestId: taken.turn.requestId },
      });
      for (const { record } of good) expect(await store().chatOfRequest(record.turn.requestId)).toBeNull();
      await store().write(good);
      expect(open().transactions.write).toBe(before + 2);
      for (const { record } of good) expect(await store().getTurn(record.turn.requestId)).toEqual(record);
    });

    it('writes of one turn in one batch follow each other', async () => {
      const chat = aChat();
      const record = aRecord(aTurn(chat.chatId));
      const second = { ...record, turn: { ...record.turn, attempt: 2 } };
      await store().write([
        aBegin(record, { newChat: chat }),
        anEnd(record, { turn: { status: 'failed', stopReason: 'error' }, messages: [answer(record, 1)] }),
        aBegin(second),
      ]);
      expect(await store().getTurn(record.turn.requestId)).toEqual(second);
      expect(await store().getMessages(chat.chatId, {})).toHaveLength(1);
    });

    it('C23: 10,000 messages and 2,000 steps are one transaction', async () => {
      const record = await begun(store());
      const messages = Array.from({ length: 10_000 }, (_, n) => answer(record, n + 2));
      const steps = Array.from({ length: 2_000 }, (_, n) => aStep(record.turn, n + 1, { input: { n } }));
      const before = open().transactions.write;
      await store().write([anEnd(record, { messages, steps, lastSequence: 10_001 })]);
      expect(open().transactions.write).toBe(before + 1);
      const read = await store().getMessages(record.turn.chatId, { requestId: record.turn.requestId });
      expect(read).toHaveLength(10_001);
      expect(read.slice(1)).toEqual(messages);
      expect(await store().getSteps(record.turn.requestId)).toEqual(steps);
      expect(await store().nextSequence(record.turn.chatId)).toBe(10_002);
    });
  });

  async function begunIn(chatId: string): Promise<TurnRecord> {
    const record = aRecord(aTurn(chatId));
    await store().write([aBegin(record)]);
    return record;
  }
}
