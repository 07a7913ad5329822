import { describe, expect, it } from 'vitest';
import type { Step } from '../../../protocol/index.js';
import type { ChatFilter, Store } from '../../../server/ports/store.js';
import {
  aChat,
  aMessage,
  aStep,
  anEnd,
  anId,
  at,
  begun,
  filterOf,
  interrupted,
  sequences,
  stored,
  type StoreUnderTest,
} from './values.js';

/** What the seed design's own list for its store asks beyond the other parts of this suite (docs/seed-cases.md). */
export function seedContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;
  const stepsOf = async (requestId: string): Promise<Step[]> =>
    (await store().getSteps(requestId)).map(({ step }) => step);

  describe('the seed list', () => {
    it('seed 49: the last activity of a chat is the time of its last message, and no update changes it', async () => {
      const record = await begun(store());
      const { chatId } = record.turn;
      const message = aMessage(chatId, 2, { requestId: record.turn.requestId, createdAt: at(77) });
      await store().write([anEnd(record, { messages: [message], lastSequence: 2, at: at(80) })]);
      expect((await store().getChat(chatId))?.lastMessageAt).toBe(at(77));
      await store().updateChat(chatId, { title: 'renamed' }, at(99));
      expect(await store().getChat(chatId)).toMatchObject({ lastMessageAt: at(77), updatedAt: at(99) });
    });

    it('seed 51: five chats, two archived: all, the active, one by its title, two pages of two, and the time of all', async () => {
      const tenantId = anId('tenant');
      for (const n of [1, 2, 3, 4, 5]) {
        const status = n > 3 ? 'archived' : 'active';
        await store().createChat(aChat({ tenantId, title: `Chat ${n}`, status, createdAt: at(n) }));
      }
      const list = async (fields: Partial<ChatFilter>) => {
        const { data, total, page, pageCount } = await store().listChats(filterOf({ tenantId, ...fields }));
        return [data.map(({ title }) => title), total, page, pageCount];
      };
      expect(await list({})).toEqual([['Chat 5', 'Chat 4', 'Chat 3', 'Chat 2', 'Chat 1'], 5, 1, 1]);
      expect(await list({ status: 'active' })).toEqual([['Chat 3', 'Chat 2', 'Chat 1'], 3, 1, 1]);
      expect(await list({ keywords: 'Chat 1' })).toEqual([['Chat 1'], 1, 1, 1]);
      expect(await list({ page: 1, pageSize: 2 })).toEqual([['Chat 5', 'Chat 4'], 5, 1, 3]);
      expect(await list({ page: 2, pageSize: 2 })).toEqual([['Chat 3', 'Chat 2'], 5, 2, 3]);
      expect((await list({ startTime: at(1), endTime: at(5), timeField: 'createdAt' }))[1]).toBe(5);
      expect((await list({ orderBy: 'createdAt', order: 'asc' }))[0]).toEqual(
        ((await list({ orderBy: 'createdAt', order: 'desc' }))[0] as string[]).reverse(),
      );
    });

    it('seed 51: two of one person, two of one team, three of the one or another team, none of a stranger', async () => {
      const tenantId = anId('tenant');
      for (const [createdBy, teamId] of [
        ['user1', 'team1'],
        ['user1', 'team2'],
        ['user2', 'team1'],
        ['user2', 'team2'],
      ] as const)
        await store().createChat(aChat({ tenantId, createdBy, teamId, share: 'team' }));
      const count = async (...anyOf: ChatFilter['anyOf']): Promise<number> =>
        (await store().listChats(filterOf({ tenantId, anyOf }))).total;
      expect(await count({ createdBy: 'user1' })).toBe(2);
      expect(await count({ teamId: 'team1', share: 'team' })).toBe(2);
      expect(await count({ createdBy: 'user1' }, { teamId: 'team2', share: 'team' })).toBe(3);
      expect(await count({ createdBy: 'nobody' }, { teamId: 'nobody', share: 'team' })).toBe(0);
    });

    it('seed 52: three that are saved at once stand 1, 2, 3', async () => {
      const { chatId } = await stored(store());
      const three = [1, 2, 3].map((sequence) => aMessage(chatId, sequence));
      await store().saveMessages(chatId, three);
      expect(await store().getMessages(chatId, {})).toEqual(three);
    });

    it('seed 57: three threads of one block and a summary in the next', async () => {
      const { chatId } = await stored(store());
      await store().saveMessages(chatId, [
        ...['T1', 'T2', 'T3'].map((threadId, index) => aMessage(chatId, index + 1, { blockId: 'B1', threadId })),
        aMessage(chatId, 4, { blockId: 'B2' }),
      ]);
      for (const [index, threadId] of ['T1', 'T2', 'T3'].entries())
        expect(sequences(await store().getMessages(chatId, { threadId }))).toEqual([index + 1]);
      expect(sequences(await store().getMessages(chatId, { blockId: 'B1' }))).toEqual([1, 2, 3]);
      expect(sequences(await store().getMessages(chatId, { blockId: 'B2' }))).toEqual([4]);
    });

    it('seed 58, 59: what is before the third of five: two, ascending, by the number that each message has', async () => {
      const { chatId } = await stored(store());
      await store().saveMessages(
        chatId,
        [1, 2, 3, 4, 5].map((sequence) => aMessage(chatId, sequence)),
      );
      const cursor = (await store().getMessages(chatId, {}))[2]!.sequence;
      const before = await store().getMessages(chatId, { before: cursor, limit: 50 });
      expect(sequences(before)).toEqual([1, 2]);
      expect(before.every(({ sequence }) => sequence < cursor)).toBe(true);
      expect(sequences(await store().getMessages(chatId, { before: cursor, limit: 1 }))).toEqual([2]);
    });

    it('seed 61: steps of a turn, ascending; not those of another turn of the chat', async () => {
      const { turn } = await begun(store());
      const other = { ...turn, requestId: anId('request') };
      await store().saveSteps([aStep(turn, 2), aStep(other, 1), aStep(turn, 1), aStep(other, 2), aStep(turn, 3)]);
      expect(sequences(await stepsOf(turn.requestId))).toEqual([1, 2, 3]);
      expect((await stepsOf(other.requestId)).map(({ requestId }) => requestId)).toEqual([
        other.requestId,
        other.requestId,
      ]);
      expect(await stepsOf(anId('request'))).toEqual([]);
    });

    it('seed 65: the steps of a chat go when the chat goes, and a chat without any goes as well', async () => {
      const [{ turn }, empty] = [await begun(store()), await stored(store())];
      await store().saveSteps([aStep(turn, 1), aStep(turn, 2, { status: 'interrupted' })]);
      for (const chatId of [turn.chatId, empty.chatId]) await store().deleteChat(chatId, at(3));
      expect(await stepsOf(turn.requestId)).toEqual([]);
      expect(await store().lastIncompleteStep(turn.chatId)).toBeNull();
      await expect(store().deleteChat(anId('chat'), at(3))).rejects.toMatchObject({ code: 'not_found' });
    });

    it('seed 66: a delegation that was interrupted: where, by which path, with which space; and gone with its chat', async () => {
      const { turn, rootStackId } = await interrupted(store());
      const child = {
        stackId: anId('stack'),
        stackParentId: rootStackId,
        stackDepth: 1,
        assistantId: 'visualizer',
        spaceSnapshot: { choose_prompt: 'query', rows: [{ n: 1 }] },
      };
      await store().saveSteps([
        aStep(turn, 1, { type: 'input' }),
        aStep(turn, 2, { type: 'hook_next', output: { delegate: 'visualizer' } }),
        aStep(turn, 3, { type: 'delegate', status: 'running' }),
        aStep(turn, 4, { ...child, type: 'input' }),
        aStep(turn, 5, { ...child, type: 'llm', status: 'interrupted', input: { messages: ['draw'] } }),
      ]);
      const last = await store().lastIncompleteStep(turn.chatId);
      expect(last).toMatchObject({
        type: 'llm',
        status: 'interrupted',
        stackDepth: 1,
        assistantId: 'visualizer',
        input: { messages: ['draw'] },
        spaceSnapshot: child.spaceSnapshot,
      });
      expect(await store().getStackPath(turn.chatId, last!.stackId)).toEqual([rootStackId, child.stackId]);
      await store().deleteChat(turn.chatId, at(9));
      expect([await stepsOf(turn.requestId), await store().lastIncompleteStep(turn.chatId)]).toEqual([[], null]);
    });
  });
}
