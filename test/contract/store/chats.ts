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
  anId,
  at,
  begun,
  filterOf,
  sequences,
  stored,
  type StoreUnderTest,
} from './values.js';

export function chatContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;

  describe('chats', () => {
    it('seed 47: a chat comes back as it was created', async () => {
      const chat = aChat({
        title: 'Dinner plans',
        assistantId: 'team:cook.v2',
        mode: 'task',
        status: 'archived',
        preset: true,
        public: true,
        share: 'team',
        sort: -7,
        lastMessageAt: at(5),
        metadata: { tags: ['food', null], nested: { deep: [1.5, { ok: true }] } },
        teamId: 'blue',
        tenantId: 'acme',
        updatedAt: at(9),
      });
      await store().createChat(chat);
      expect(await store().getChat(chat.chatId)).toEqual(chat);
    });

    it('seed 47: an id that was ever used is refused, also after its chat was deleted', async () => {
      const chat = await stored(store());
      await expect(store().createChat(aChat({ chatId: chat.chatId, title: 'another' }))).rejects.toMatchObject({
        code: 'conflict',
      });
      await store().deleteChat(chat.chatId, at(1));
      await expect(store().createChat(chat)).rejects.toMatchObject({ code: 'conflict' });
      expect(await store().isChatIdTaken(chat.chatId)).toBe(true);
      expect(await store().isChatIdTaken(anId('chat'))).toBe(false);
    });

    it('counts the chats that somebody has created and not deleted, up to a bound', async () => {
      const createdBy = anId('user');
      const count = (tenantId: string | null, atMost: number) => store().countChats({ tenantId, createdBy }, atMost);
      expect(await count(null, 10)).toBe(0);
      const chats = await Promise.all(Array.from({ length: 3 }, () => stored(store(), { createdBy })));
      await stored(store(), { createdBy, tenantId: 'acme' });
      expect([await count(null, 10), await count('acme', 10), await count(null, 2)]).toEqual([3, 1, 2]);
      await store().deleteChat(chats[0]!.chatId, at(1));
      expect(await count(null, 10)).toBe(2);
    });

    it('seed 48: an unknown or deleted chat is null', async () => {
      expect(await store().getChat(anId('chat'))).toBeNull();
      const chat = await stored(store());
      await store().deleteChat(chat.chatId, at(1));
      expect(await store().getChat(chat.chatId)).toBeNull();
    });

    it('seed 49: an update changes what it names and the time of the update, nothing else', async () => {
      const chat = await stored(store(), { title: 'old', metadata: { a: 1 }, sort: 3 });
      const updated = await store().updateChat(
        chat.chatId,
        { title: 'new', public: true, sort: 4, updatedBy: 'bob' },
        at(60),
      );
      expect(updated).toEqual({ ...chat, title: 'new', public: true, sort: 4, updatedAt: at(60) });
      expect(await store().getChat(chat.chatId)).toEqual(updated);
      expect((await store().updateChat(chat.chatId, { metadata: { b: [2] } }, at(61))).metadata).toEqual({ b: [2] });
      expect((await store().updateChat(chat.chatId, { metadata: null, title: null }, at(62))).metadata).toBeNull();
      expect(await store().getChat(chat.chatId)).toMatchObject({
        title: null,
        metadata: null,
        status: 'active',
        mode: 'chat',
      });
      expect(
        await store().updateChat(chat.chatId, { status: 'archived', mode: 'task', share: 'team' }, at(63)),
      ).toMatchObject({
        status: 'archived',
        mode: 'task',
        share: 'team',
      });
    });

    it('seed 49: updating an unknown or deleted chat is not_found', async () => {
      const chat = await stored(store());
      await store().deleteChat(chat.chatId, at(1));
      for (const chatId of [chat.chatId, anId('chat')]) {
        await expect(store().updateChat(chatId, { title: 'x' }, at(2))).rejects.toMatchObject({ code: 'not_found' });
      }
    });

    it('seed 50: deleting an unknown chat, or one a second time, is not_found', async () => {
      const chat = await stored(store());
      await store().deleteChat(chat.chatId, at(1));
      for (const chatId of [chat.chatId, anId('chat')]) {
        await expect(store().deleteChat(chatId, at(2))).rejects.toMatchObject({ code: 'not_found' });
      }
    });

    it('C46: deleting hides 1,000 messages, turns and steps at once, in one transaction', async () => {
      const chat = await stored(store());
      const records = Array.from({ length: 20 }, () => aRecord(aTurn(chat.chatId)));
      await store().write(records.map((record) => aBegin(record)));
      await store().write(
        records.map((record, index) =>
          anEnd(record, {
            turn: { status: 'interrupted', stopReason: 'stopped' },
            messages: Array.from({ length: 50 }, (_, n) =>
              aMessage(chat.chatId, index * 50 + n + 1, { requestId: record.turn.requestId }),
            ),
            steps: Array.from({ length: 30 }, (_, n) => aStep(record.turn, n + 1, { status: 'interrupted' })),
          }),
        ),
      );
      const { requestId } = records[0]!.turn;
      const message = (await store().getMessages(chat.chatId, { limit: 1 }))[0]!;
      const step = (await store().getSteps(requestId))[0]!.step;
      expect(await open().liveRows(chat.chatId)).toBe(1 + 1000 + 20 + 600);

      const before = open().transactions.write;
      await store().deleteChat(chat.chatId, at(9));
      expect(open().transactions.write).toBe(before + 1);

      expect(await open().liveRows(chat.chatId)).toBe(0);
      expect(await store().getMessages(chat.chatId, {})).toEqual([]);
      expect(await store().getMessage(message.messageId)).toBeNull();
      expect(await store().getTurn(requestId)).toBeNull();
      expect(await store().getTurns([requestId])).toEqual([]);
      expect(await store().listTurns(chat.chatId, { limit: 10 })).toEqual([]);
      expect(await store().getSteps(requestId)).toEqual([]);
      expect(await store().getStepsByStack(step.stackId)).toEqual([]);
      expect(await store().getStackPath(chat.chatId, step.stackId)).toEqual([step.stackId]);
      expect(await store().lastIncompleteStep(chat.chatId)).toBeNull();
      expect(
        (await store().listChats(filterOf({ anyOf: [{ createdBy: 'alice' }], keywords: chat.chatId }))).total,
      ).toBe(0);
      await expect(store().updateMessage(message.messageId, { type: 'text' }, at(10))).rejects.toMatchObject({
        code: 'not_found',
      });
      await expect(store().updateStep(step.stepId, { status: 'completed' }, at(10))).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await store().deleteMessages(chat.chatId, [message.messageId], at(10))).toEqual([]);
      expect(await store().chatOfRequest(requestId)).toBe(chat.chatId);
    });

    it('nothing that is saved later brings a deleted chat back', async () => {
      const record = await begun(store());
      const { chatId } = record.turn;
      await store().deleteChat(chatId, at(3));
      await expect(store().saveMessages(chatId, [aMessage(chatId, 2)])).rejects.toMatchObject({ code: 'not_found' });
      await expect(store().saveSteps([aStep(record.turn, 1)])).rejects.toMatchObject({ code: 'not_found' });
      expect(await open().liveRows(chatId)).toBe(0);
    });

    it('the highest sequence ever given only grows', async () => {
      expect(await store().nextSequence(anId('chat'))).toBe(1);
      const chat = await stored(store());
      expect(await store().nextSequence(chat.chatId)).toBe(1);
      const messages = [1, 2, 3].map((sequence) => aMessage(chat.chatId, sequence));
      await store().saveMessages(chat.chatId, messages);
      expect(await store().nextSequence(chat.chatId)).toBe(4);
      await store().deleteMessages(chat.chatId, [messages[2]!.messageId], at(9));
      expect(await store().nextSequence(chat.chatId)).toBe(4);

      const record = aRecord(aTurn(chat.chatId));
      await store().write([aBegin(record)]);
      // What was deleted before it was stored has had its sequence all the same.
      await store().write([anEnd(record, { lastSequence: 11 })]);
      expect(await store().nextSequence(chat.chatId)).toBe(12);
      await store().saveMessages(chat.chatId, [aMessage(chat.chatId, 5)]);
      expect(await store().nextSequence(chat.chatId)).toBe(12);
      expect(sequences(await store().getMessages(chat.chatId, {}))).toEqual([1, 2, 5]);
    });
  });
}
