import { describe, expect, it } from 'vitest';
import type { Chat } from '../../../protocol/index.js';
import type { ChatFilter, Store } from '../../../server/ports/store.js';
import { aChat, anId, at, filterOf, stored, type StoreUnderTest } from './values.js';

export function chatListContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;

  /** Lists within a tenant of the test's own, so that chats of other tests do not show. */
  function lister(tenantId: string) {
    return async (fields: Partial<ChatFilter> = {}): Promise<string[]> => {
      const { data } = await store().listChats(filterOf({ tenantId, ...fields }));
      return data.map(({ title }) => title ?? '');
    };
  }
  const inTenant = async (tenantId: string, ...chats: Partial<Chat>[]): Promise<void> => {
    for (const chat of chats) await store().createChat(aChat({ tenantId, ...chat }));
  };

  describe('the list of chats', () => {
    it('seed 51: status, assistant, pages and totals', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(
        tenantId,
        ...[1, 2, 3, 4, 5].map((n) => ({
          title: `Chat ${n}`,
          createdAt: at(n),
          status: n > 3 ? ('archived' as const) : ('active' as const),
          assistantId: n === 2 ? 'cook' : 'echo',
        })),
      );
      expect(await list()).toEqual(['Chat 5', 'Chat 4', 'Chat 3', 'Chat 2', 'Chat 1']);
      expect(await list({ status: 'active' })).toEqual(['Chat 3', 'Chat 2', 'Chat 1']);
      expect(await list({ assistantId: 'cook' })).toEqual(['Chat 2']);
      expect(await list({ keywords: 'chat 1' })).toEqual(['Chat 1']);
      expect(await list({ page: 2, pageSize: 2 })).toEqual(['Chat 3', 'Chat 2']);
      const past = await store().listChats(filterOf({ tenantId, page: 4, pageSize: 2 }));
      expect(past).toEqual({ data: [], page: 4, pageSize: 2, pageCount: 3, total: 5 });
      const none = await store().listChats(filterOf({ tenantId, status: 'active', assistantId: 'nobody' }));
      expect(none).toEqual({ data: [], page: 1, pageSize: 20, pageCount: 1, total: 0 });
    });

    it('seed 51: ascending is the exact mirror of descending, ties included', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(
        tenantId,
        ...['d', 'b', 'a', 'c'].map((title) => ({ title, createdAt: at(1), chatId: `${title}-${tenantId}` })),
        { title: 'e', createdAt: at(2), chatId: `0-${tenantId}` },
      );
      for (const orderBy of ['lastMessageAt', 'createdAt', 'updatedAt'] as const) {
        const descending = await list({ orderBy });
        expect(await list({ orderBy, order: 'asc' })).toEqual([...descending].reverse());
      }
      expect(await list({ orderBy: 'createdAt' })).toEqual(['e', 'd', 'c', 'b', 'a']);
    });

    it('seed 51: the bounds of a time are inclusive and compare moments', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(
        tenantId,
        { title: 'one', createdAt: at(0), updatedAt: at(100), lastMessageAt: at(50) },
        { title: 'two', createdAt: at(60), updatedAt: at(60) },
      );
      expect(await list({ startTime: at(0), endTime: at(60), timeField: 'createdAt' })).toEqual(['two', 'one']);
      expect(await list({ startTime: at(1), timeField: 'createdAt' })).toEqual(['two']);
      expect(await list({ endTime: at(59), timeField: 'createdAt' })).toEqual(['one']);
      expect(await list({ startTime: at(61), timeField: 'updatedAt' })).toEqual(['one']);
      // Without a message, the time of creation stands for the last one's.
      expect(await list({ startTime: at(50), endTime: at(60) })).toEqual(['two', 'one']);
      expect(await list({ startTime: at(50), endTime: '2026-03-01T19:00:50+09:00' })).toEqual(['one']);
    });

    it('newest activity first: a message counts, and until there is one the creation', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(
        tenantId,
        { title: 'old, just talked in', createdAt: at(1), lastMessageAt: at(30) },
        { title: 'new and empty', createdAt: at(20) },
        { title: 'old and empty', createdAt: at(2) },
      );
      expect(await list()).toEqual(['old, just talked in', 'new and empty', 'old and empty']);
    });

    it('seed 51: who may see what is joined by OR, inside one tenant', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      const sorted = async (fields: Partial<ChatFilter>): Promise<string[]> => (await list(fields)).sort();
      await inTenant(
        tenantId,
        { title: 'alice private', createdBy: 'alice', teamId: 'blue' },
        { title: 'alice shared', createdBy: 'alice', teamId: 'blue', share: 'team' },
        { title: 'bob shared', createdBy: 'bob', teamId: 'red', share: 'team' },
        { title: 'carol public', createdBy: 'carol', public: true },
      );
      await inTenant(anId('tenant'), { title: 'elsewhere', createdBy: 'alice', public: true });
      expect(await sorted({ anyOf: [{ createdBy: 'alice' }] })).toEqual(['alice private', 'alice shared']);
      expect(await sorted({ anyOf: [{ teamId: 'blue', share: 'team' }] })).toEqual(['alice shared']);
      expect(await sorted({ anyOf: [{ public: true }] })).toEqual(['carol public']);
      expect(await sorted({ anyOf: [{ createdBy: 'alice' }, { teamId: 'red', share: 'team' }] })).toEqual([
        'alice private',
        'alice shared',
        'bob shared',
      ]);
      expect(await sorted({ anyOf: [{ createdBy: 'nobody' }, { public: true }] })).toEqual(['carol public']);
      expect(await sorted({ anyOf: [{ everything: true }] })).toHaveLength(4);
      expect(await sorted({ anyOf: [{ createdBy: 'nobody' }] })).toEqual([]);
      expect(await sorted({ anyOf: [] })).toEqual([]);
      // No tenant is a tenant of its own.
      expect((await store().listChats(filterOf({ keywords: 'alice private' }))).total).toBe(0);
    });

    it.each([
      ['Cyrillic', 'Привіт, Червоний Кіт', ['червоний', 'ЧЕРВОНИЙ', 'кіт']],
      ['composed and decomposed', 'Café au lait', ['cafe\u0301', 'CAFÉ', 'É AU']],
      ['full width', 'ＡＢＣ１２３', ['abc', 'c123']],
      ['final sigma', 'ΟΔΥΣΣΕΥΣ και φίλος', ['οδυσσευς', 'οδυσσευσ', 'ΦΊΛΟΣ', 'σσ']],
      ['Turkish', 'İstanbul ve Isparta, ılık', ['istanbul', 'İSTANBUL', 'ISTANBUL', 'ısparta', 'isparta', 'ILIK']],
      ['sharp s', 'Große Straße', ['STRASSE', 'straße', 'GROẞE']],
      ['ligature', 'Oﬃce hours', ['office']],
      ['emoji', 'Trip 🇺🇦 2026', ['🇺🇦', 'TRIP 🇺']],
    ])('C29: keywords ignore case and form: %s', async (_, title, found) => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(tenantId, { title }, { title: 'something else' }, { title: null });
      for (const keywords of found) expect(await list({ keywords }), keywords).toEqual([title]);
    });

    it('CMD-2: wildcards, quotes and backslashes in keywords mean themselves', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      await inTenant(
        tenantId,
        { title: '100% sure' },
        { title: '1000 sure' },
        { title: 'snake_case' },
        { title: `it's "\\"` },
      );
      expect(await list({ keywords: '0% s' })).toEqual(['100% sure']);
      expect(await list({ keywords: '%' })).toEqual(['100% sure']);
      expect(await list({ keywords: '_' })).toEqual(['snake_case']);
      expect(await list({ keywords: `'s "\\` })).toEqual([`it's "\\"`]);
      expect(await list({ keywords: '' })).toHaveLength(4);
    });

    it('a title that is changed is found by its new words only', async () => {
      const tenantId = anId('tenant');
      const list = lister(tenantId);
      const chat = await stored(store(), { tenantId, title: 'Перший' });
      await store().updateChat(chat.chatId, { title: 'Другий' }, at(1));
      expect(await list({ keywords: 'перший' })).toEqual([]);
      expect(await list({ keywords: 'ДРУГ' })).toEqual(['Другий']);
      await store().updateChat(chat.chatId, { title: null }, at(2));
      expect(await list({ keywords: 'друг' })).toEqual([]);
    });
  });
}
