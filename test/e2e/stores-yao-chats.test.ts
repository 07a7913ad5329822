import { describe, expect, test } from 'vitest';
import { createYaoStore, type Chat, type ChatFilter, type ChatStore } from '../../stores/yao/index.js';
import { uid } from '../harness/peer.js';
import { HOSTS } from './stores-hosts.js';
import { expectRefused, yaoOn } from './stores-yao-scene.js';

const nothing = undefined as unknown as string;
const at = (day: number) => `2024-03-0${day}T10:00:00.000Z`;

/** Five chats, made on five days, two of them archived. */
async function five(store: ChatStore): Promise<Chat[]> {
  const made: Chat[] = [];
  for (const n of [1, 2, 3, 4, 5])
    made.push(
      await store.createChat({
        assistantId: n === 2 ? 'cook' : 'bot',
        title: `Chat ${n}`,
        status: n > 3 ? 'archived' : 'active',
        createdAt: at(n),
      }),
    );
  return made;
}

const titles = async (store: ChatStore, filter: ChatFilter = {}): Promise<(string | undefined)[]> =>
  (await store.listChats(filter)).data.map(({ title }) => title);

describe.each(HOSTS)('yao chats, %s', (host) => {
  test('seed 47: an id is made and written back; defaults are those of the seed', async () => {
    const { store } = await yaoOn(host);
    const draft: Parameters<ChatStore['createChat']>[0] = { assistantId: 'bot' };
    const chat = await store.createChat(draft);
    expect(draft.chatId).toBe(chat.chatId);
    expect(chat).toEqual({
      ...{ chatId: draft.chatId, assistantId: 'bot', mode: 'chat', status: 'active', preset: false, public: false },
      ...{ share: 'private', sort: 0, createdBy: 'user1', createdAt: chat.createdAt, updatedAt: chat.updatedAt },
    });
    expect(chat.createdAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    const frozen = await store.createChat(Object.freeze({ assistantId: 'bot' }));
    expect(await store.getChat(frozen.chatId)).toEqual(frozen);
  });

  test('seed 47, 48: all fields come back, a given id is kept; empty texts stand for the defaults', async () => {
    const { storeOf } = await yaoOn(host);
    const store = storeOf({ userId: 'user1', teamId: 'team1', tenantId: 'acme' });
    const full = {
      ...({
        chatId: uid('c'),
        assistantId: 'bot',
        title: 'T',
        mode: 'task',
        status: 'archived',
        preset: true,
      } as const),
      ...({ public: true, share: 'team', sort: -3, metadata: { a: [1, { b: null }] }, createdAt: at(1) } as const),
    };
    await store.createChat(full);
    const chat = await store.getChat(full.chatId);
    expect(chat).toEqual({
      ...{ ...full, updatedAt: chat.updatedAt },
      ...{ createdBy: 'user1', teamId: 'team1', tenantId: 'acme' },
    });
    const empty = { chatId: '', assistantId: 'bot', title: '', mode: '', metadata: null, createdAt: null };
    expect(await store.createChat(empty)).toMatchObject({ mode: 'chat' });
    expect(empty.chatId).not.toBe('');
  });

  test('seed 47: a second one of an id is refused, of whomever, at once and after deletion', async () => {
    const { store, storeOf } = await yaoOn(host);
    const chatId = uid('c');
    const make = (by = store) => by.createChat({ chatId, assistantId: 'bot', title: 'first' });
    const both = await Promise.allSettled([make(), make()]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const by of [store, storeOf({ userId: 'user2' })])
      await expectRefused(make(by), 'conflict', `chat ${chatId} already exists`);
    await store.deleteChat(chatId);
    await expectRefused(make(), 'conflict', `chat ${chatId} already exists`);
    await expectRefused(store.getChat(chatId), 'not_found', 'not found');
  });

  test('seed 47: none, or one without an assistant, is refused; so is what no chat can have', async () => {
    const { store } = await yaoOn(host);
    const make = (chat: unknown) => store.createChat(chat as { assistantId: string });
    await expectRefused(make(null), 'bad_request', 'chat is required');
    await expectRefused(make(undefined), 'bad_request', 'chat is required');
    for (const none of [{}, { assistantId: '' }, { assistantId: null }])
      await expectRefused(make(none), 'bad_request', 'assistant_id is required');
    for (const bad of [
      { chatId: 'a.b' },
      { chatId: 'x'.repeat(65) },
      { status: 'gone' },
      { share: 'world' },
      { metadata: [] },
      { sort: 1.5 },
      { title: 7 },
      { createdAt: 'yesterday' },
      { createdAt: new Date(NaN) },
    ])
      await expectRefused(make({ assistantId: 'bot', ...bad }), 'bad_request', /./);
    expect((await store.listChats()).total).toBe(0);
  });

  test('seed 48: an unknown, deleted or impossible id is not found, an empty one is required', async () => {
    const { store, storeOf } = await yaoOn(host);
    const { chatId } = await store.createChat({ assistantId: 'bot' });
    await expectRefused(storeOf({ userId: 'user2' }).getChat(chatId), 'not_found', `chat ${chatId} not found`);
    await store.deleteChat(chatId);
    for (const id of [chatId, uid('c'), 'what is this?'])
      await expectRefused(store.getChat(id), 'not_found', `not found`);
    for (const id of ['', nothing]) await expectRefused(store.getChat(id), 'bad_request', 'chat_id is required');
  });

  test('seed 49: one field, several, metadata and none of it; ids and times are passed over', async () => {
    const { store } = await yaoOn(host);
    const { chatId, createdAt } = await store.createChat({ assistantId: 'bot', title: 'old', metadata: { a: 1 } });
    await store.updateChat(chatId, { title: 'new' });
    expect(await store.getChat(chatId)).toMatchObject({ title: 'new', metadata: { a: 1 } });
    const several = { status: 'archived', mode: 'task', public: true, share: 'team', sort: 7, metadata: { b: [2] } };
    await store.updateChat(chatId, several);
    const before = await store.getChat(chatId);
    expect(before).toMatchObject({ title: 'new', ...several });
    const passedOver = { chatId: uid('c'), createdAt: at(1), lastMessageAt: at(2), updatedAt: at(3) };
    await store.updateChat(chatId, passedOver);
    const after = await store.getChat(chatId);
    expect({ ...after, updatedAt: '' }).toEqual({ ...before, updatedAt: '' });
    expect(after.updatedAt >= before.updatedAt).toBe(true);
    expect(after.createdAt).toBe(createdAt);
    await store.updateChat(chatId, { ...passedOver, metadata: null, title: null });
    expect(await store.getChat(chatId)).toEqual({
      ...{ ...after, updatedAt: expect.any(String) as string, metadata: undefined, title: undefined },
    });
  });

  test('seed 49: of an unknown or deleted chat, without an id, of no fields or of those that do not change: refused, and nothing changes', async () => {
    const { store, storeOf } = await yaoOn(host);
    const { chatId } = await store.createChat({ assistantId: 'bot', title: 'as it was', share: 'team', public: true });
    const before = await store.getChat(chatId);
    await expectRefused(store.updateChat('', { title: 'x' }), 'bad_request', 'chat_id is required');
    for (const none of [{}, null, { title: undefined }])
      await expectRefused(
        store.updateChat(chatId, none as Record<string, unknown>),
        'bad_request',
        'no fields to update',
      );
    for (const bad of ['assistantId', 'preset', 'createdBy', 'last_message_at', '__proto__x'])
      await expectRefused(
        store.updateChat(chatId, { title: 'x', [bad]: 'y' }),
        'bad_request',
        `${bad} cannot be updated`,
      );
    for (const bad of [{ status: 'gone' }, { metadata: 'x' }, { sort: 'first' }, { title: 7 }])
      await expectRefused(store.updateChat(chatId, { mode: 'x', ...bad }), 'bad_request', /./);
    await expectRefused(storeOf({ userId: 'user2' }).updateChat(chatId, { title: 'x' }), 'forbidden', /./);
    expect(await store.getChat(chatId)).toEqual(before);
    await expectRefused(store.updateChat(uid('c'), { title: 'x' }), 'not_found', 'not found');
    await store.deleteChat(chatId);
    await expectRefused(store.updateChat(chatId, { title: 'x' }), 'not_found', 'not found');
  });

  test('seed 50: a deleted chat is gone with its messages and steps; again, unknown and empty are refused', async () => {
    const { store } = await yaoOn(host);
    const { chatId } = await store.createChat({ assistantId: 'bot' });
    const requestId = uid('r');
    await store.saveMessages(chatId, [{ role: 'user', type: 'text', props: {} }]);
    await store.saveSteps([
      { chatId, requestId, assistantId: 'bot', stackId: uid('k'), type: 'llm', status: 'interrupted' },
    ]);
    await store.deleteChat(chatId);
    expect(await store.getMessages(chatId)).toEqual([]);
    expect(await store.getSteps(requestId)).toEqual([]);
    expect(await store.getLastIncompleteStep(chatId)).toBeNull();
    for (const id of [chatId, uid('c')]) await expectRefused(store.deleteChat(id), 'not_found', `chat ${id} not found`);
    await expectRefused(store.deleteChat(''), 'bad_request', 'chat_id is required');
  });

  test('seed 51: five chats, two archived: all, the active, one by its title, two pages of two, the time of all', async () => {
    const { store } = await yaoOn(host);
    expect(await store.listChats()).toEqual({ data: [], page: 1, pageSize: 20, pageCount: 1, total: 0 });
    const made = await five(store);
    const all = await store.listChats();
    expect(all).toMatchObject({ page: 1, pageSize: 20, pageCount: 1, total: 5 });
    expect(all.data).toEqual([...made].reverse());
    expect(await store.listChats({ page: 0, pageSize: -1, status: '', keywords: '' })).toEqual(all);
    expect(await titles(store, { status: 'active' })).toEqual(['Chat 3', 'Chat 2', 'Chat 1']);
    expect(await titles(store, { keywords: 'Chat 1' })).toEqual(['Chat 1']);
    expect(await titles(store, { keywords: 'hat%' })).toEqual([]);
    expect(await titles(store, { assistantId: 'cook' })).toEqual(['Chat 2']);
    for (const none of [{ assistantId: 'no name' }, { status: 'gone' }, { keywords: 'x'.repeat(600) }])
      expect(await store.listChats(none)).toEqual({ data: [], page: 1, pageSize: 20, pageCount: 1, total: 0 });
    const pages = [1, 2, 3, 4].map((page) => store.listChats({ page, pageSize: 2 }));
    const found = await Promise.all(pages);
    for (const [index, page] of found.entries())
      expect(page).toMatchObject({ page: index + 1, pageSize: 2, pageCount: 3, total: 5 });
    expect(found.map(({ data }) => data.length)).toEqual([2, 2, 1, 0]);
    expect(found.flatMap(({ data }) => data)).toEqual(all.data);
    expect(await titles(store, { startTime: at(1), endTime: at(5) })).toHaveLength(5);
    expect(await titles(store, { startTime: new Date(at(2)), endTime: at(3), timeField: 'createdAt' })).toEqual([
      'Chat 3',
      'Chat 2',
    ]);
    expect(await titles(store, { endTime: '2024-03-01T11:00:00+01:00' })).toEqual(['Chat 1']);
  });

  test('seed 51: ascending is the mirror of descending; the newest message makes a chat the newest', async () => {
    const { store } = await yaoOn(host);
    for (let n = 0; n < 4; n++) await store.createChat({ assistantId: 'bot', title: `tie ${n}`, createdAt: at(1) });
    const made = await five(store);
    const desc = await titles(store, { orderBy: 'createdAt' });
    expect(await titles(store, { orderBy: 'createdAt', order: 'asc' })).toEqual([...desc].reverse());
    expect(desc.slice(0, 5)).toEqual(['Chat 5', 'Chat 4', 'Chat 3', 'Chat 2', expect.any(String)]);
    const text = { role: 'user', type: 'text', props: {}, createdAt: at(9) };
    await store.saveMessages(made[1]!.chatId, [text]);
    expect((await titles(store))[0]).toBe('Chat 2');
    expect((await store.getChat(made[1]!.chatId)).lastMessageAt).toBe(at(9));
  });

  test('seed 51: two of one person, two of one team, one of both, none of a stranger, three of the one or the other', async () => {
    const { storeOf } = await yaoOn(host);
    const make = (userId: string, teamId: string) =>
      storeOf({ userId, teamId }).createChat({ assistantId: 'bot', title: `${userId} ${teamId}`, share: 'team' });
    await make('user1', 'team1');
    await make('user1', 'team2');
    await make('user2', 'team1');
    await make('user3', 'team2');
    const admin = storeOf({ userId: 'root', roles: ['admin'] });
    const count = async (filter: ChatFilter) => (await admin.listChats(filter)).total;
    expect(await count({})).toBe(4);
    expect(await count({ userId: 'user1' })).toBe(2);
    expect(await count({ teamId: 'team1' })).toBe(2);
    expect(await count({ userId: 'user1', teamId: 'team1' })).toBe(1);
    expect(await count({ userId: 'nobody' })).toBe(0);
    expect(await titles(storeOf({ userId: 'user1', teamId: 'team2' }))).toHaveLength(3);
    expect((await storeOf({ userId: 'user9' }).listChats()).total).toBe(0);
    // The filter narrows what one may read, and gives nothing else.
    expect((await storeOf({ userId: 'user9' }).listChats({ userId: 'user1' })).total).toBe(0);
  });

  test('seed 51: by time the groups hold the chats of the page, in their order', async () => {
    // Wednesday.
    const { store } = await yaoOn(host, { now: () => Date.parse('2024-03-06T12:00:00Z') });
    for (const [title, day] of [
      ['future', '2024-03-09'],
      ['today', '2024-03-06'],
      ['yesterday', '2024-03-05'],
      ['sunday', '2024-03-03'],
      ['month', '2024-03-01'],
      ['february', '2024-02-29'],
    ])
      await store.createChat({ assistantId: 'bot', title: title!, createdAt: `${day}T10:00:00Z` });
    const list = await store.listChats({ groupBy: 'time' });
    const shown = list.groups?.map(({ key, label, count, chats }) => [key, label, count, chats.map((c) => c.title)]);
    expect(shown).toEqual([
      ['today', 'Today', 2, ['future', 'today']],
      ['yesterday', 'Yesterday', 1, ['yesterday']],
      ['this_week', 'This Week', 1, ['sunday']],
      ['this_month', 'This Month', 1, ['month']],
      ['earlier', 'Earlier', 1, ['february']],
    ]);
    expect(list.groups?.flatMap(({ chats }) => chats)).toEqual(list.data);
    const second = await store.listChats({ groupBy: 'time', page: 2, pageSize: 4 });
    expect(second.groups?.map(({ key }) => key)).toEqual(['this_month', 'earlier']);
    expect(second.total).toBe(6);
    expect(await store.listChats({ groupBy: 'time', keywords: 'nothing' })).toMatchObject({ data: [], groups: [] });
  });

  test('seed 51: a filter, order, time or grouping that there is none of is refused', async () => {
    const { store } = await yaoOn(host);
    const list = (filter: object) => store.listChats(filter);
    await expectRefused(list({ chatIdPrefix: 'c' }), 'bad_request', 'chatIdPrefix is no filter');
    await expectRefused(list({ groupBy: 'title' }), 'bad_request', 'grouped by time only');
    await expectRefused(list({ groupBy: 'time' }), 'bad_request', 'the option now');
    await expectRefused(list({ orderBy: 'title; DROP TABLE agent_chat' }), 'bad_request', 'orderBy');
    await expectRefused(list({ order: 'up' }), 'bad_request', 'order');
    await expectRefused(list({ startTime: '2024' }), 'bad_request', 'start_time');
    await expectRefused(list({ page: 1.5 }), 'bad_request', 'page must be a whole number');
  });

  test('a page may be larger than one command gives', async () => {
    const { server, storeOf } = await yaoOn(host);
    const many = server.as({ userId: 'many' });
    const made = Array.from({ length: 250 }, (_, n) => `many-${String(n).padStart(3, '0')}`);
    for (const chatId of made) await many.call('chat:create', { chatId, assistantId: 'bot', createdAt: at(1) });
    const store = storeOf({ userId: 'many' });
    const ids = async (page: number, pageSize: number) => {
      const { data, ...numbers } = await store.listChats({ page, pageSize, order: 'asc' });
      return { ids: data.map(({ chatId }) => chatId), numbers: { ...numbers } };
    };
    expect(await ids(1, 500)).toEqual({ ids: made, numbers: { page: 1, pageSize: 500, pageCount: 1, total: 250 } });
    expect((await ids(2, 120)).ids).toEqual(made.slice(120, 240));
    expect((await ids(3, 120)).ids).toEqual(made.slice(240));
    expect(await ids(4, 120)).toEqual({ ids: [], numbers: { page: 4, pageSize: 120, pageCount: 3, total: 250 } });
  });
});

test('a time zone that there is none of is refused', () => {
  const nobody = { call: () => Promise.reject(new Error('not asked')) };
  expect(() => createYaoStore(nobody, { timeZone: 'Mars/Olympus' })).toThrow('no time zone Mars/Olympus');
});
