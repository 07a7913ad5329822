import { describe, expect, it } from 'vitest';
import type { ChatQuery } from '../../../client/index.js';
import type { Chat } from '../../../protocol/index.js';
import { connectedScene } from './connected.js';
import { settle } from './fake-clock.js';
import { chatRow } from './rows.js';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
/** A chat whose last activity was in this second, by default its name. */
const row = (second: number, change: Partial<Chat> = {}): Chat =>
  chatRow({ chatId: `chat-${second}`, title: `${second}`, createdAt: at(second), updatedAt: at(second), ...change });
const page = (data: Chat[], pageCount = 1, number = 1) => ({ data, page: number, pageSize: 2, pageCount, total: 9 });

async function watched(query: ChatQuery = {}, pageSize = 2) {
  const scene = await connectedScene();
  const list = scene.client.chats(query, pageSize);
  const unwatch = list.view.subscribe(() => undefined);
  const titles = () => list.view.getSnapshot().chats.map(({ title }) => title);
  return { ...scene, list, unwatch, titles };
}

/** The same, once the first page was read. */
async function ready(rows: Chat[], pageCount = 1, query: ChatQuery = {}) {
  const scene = await watched(query);
  scene.link.last('chat:list').ok(page(rows, pageCount));
  await settle();
  return scene;
}

describe('a list of chats', () => {
  it('is read while somebody watches, once however many do', async () => {
    const { client, link, list, clock, unwatch } = await watched();
    expect(client.chats({}, 2)).toBe(list);
    expect(client.chats({ status: 'archived' }, 2)).not.toBe(list);
    unwatch();
    list.view.subscribe(() => undefined)();
    clock.advance(500);
    list.view.subscribe(() => undefined);
    expect(link.of('chat:list').map(({ args }) => args)).toMatchObject([{ page: 1, pageSize: 2, scope: 'mine' }]);
    expect(list.view.getSnapshot().status).toBe('loading');
  });

  it('finds the next page by the time of the last row, and each chat once', async () => {
    const { link, list, titles } = await ready([row(9), row(8)], 3);
    const loading = list.loadMore();
    await settle();
    expect(list.view.getSnapshot().isLoadingMore).toBe(true);
    expect(link.last('chat:list').args).toMatchObject({ endTime: at(8), timeField: 'lastMessageAt', page: 1 });
    link.last('chat:list').ok(page([row(8), row(7)], 2));
    await loading;
    expect(titles()).toEqual(['9', '8', '7']);
    expect(list.view.getSnapshot()).toMatchObject({ hasMore: true, isLoadingMore: false });
  });

  it('more rows of one moment than fill a page hold nothing up', async () => {
    const twins = ['d', 'c', 'b', 'a'].map((chatId) => row(5, { chatId, title: chatId }));
    const { link, list, titles } = await ready(twins.slice(0, 2), 3);
    const loading = list.loadMore();
    await settle();
    link.last('chat:list').ok(page(twins.slice(0, 2), 2));
    await settle();
    expect(link.last('chat:list').args).toMatchObject({ endTime: at(5), page: 2 });
    link.last('chat:list').ok(page(twins.slice(2), 2, 2));
    await loading;
    expect(titles()).toEqual(['d', 'c', 'b', 'a']);
    expect(list.view.getSnapshot().hasMore).toBe(false);
  });

  it('what comes to be known while a page is on its way stands on top of it', async () => {
    const { client, link, list, titles } = await ready([row(9), row(8)]);
    const reading = list.refresh();
    await settle();
    const deleting = client.call('chat:delete', { chatId: 'chat-8' });
    const renaming = client.call('chat:update', { chatId: 'chat-9', title: 'renamed' });
    link.last('chat:delete').ok({ chatId: 'chat-8' });
    link.last('chat:update').ok({ chat: row(9, { title: 'renamed', updatedAt: at(20) }) });
    await Promise.all([deleting, renaming]);
    expect(titles()).toEqual(['renamed']);
    link.last('chat:list').ok(page([row(9), row(8)]));
    await reading;
    expect(titles()).toEqual(['renamed']);
  });

  it('a row that does not belong is not shown, and goes when it stops belonging', async () => {
    const { client, link, titles } = await ready([row(9)], 1, { status: 'active', keywords: 'N' });
    const update = async (change: Partial<Chat>) => {
      const asked = client.call('chat:update', { chatId: change.chatId ?? '', title: 'x' });
      link.last('chat:update').ok({ chat: row(20, change) });
      await asked;
      return titles();
    };
    expect(await update({ chatId: 'chat-1', title: 'other' })).toEqual(['9']);
    expect(await update({ chatId: 'chat-1', title: 'nine', createdBy: 'somebody' })).toEqual(['9']);
    expect(await update({ chatId: 'chat-1', title: 'nine' })).toEqual(['nine', '9']);
    expect(await update({ chatId: 'chat-1', title: 'nine', status: 'archived' })).toEqual(['9']);
  });

  it('a row behind those that are held is read with its neighbours', async () => {
    const { client, link, list, titles } = await ready([row(9), row(8)], 2);
    const asked = client.call('chat:get', { chatId: 'chat-1' });
    link.last('chat:get').ok({ chat: row(1) });
    await asked;
    expect(titles()).toEqual(['9', '8']);
    expect(list.view.getSnapshot().hasMore).toBe(true);
  });

  it('reading again reads as much as is held, and keeps the rows that are the same', async () => {
    const { link, list, titles } = await ready([row(9), row(8)], 2);
    const loading = list.loadMore();
    await settle();
    link.last('chat:list').ok(page([row(8), row(7), row(6)]));
    await loading;
    const before = list.view.getSnapshot().chats;
    const reading = list.refresh();
    await settle();
    expect(link.last('chat:list').args).toMatchObject({ pageSize: 4 });
    link.last('chat:list').ok(page([row(9), row(8), row(7, { title: 'new', updatedAt: at(30) }), row(6)]));
    await reading;
    expect(titles()).toEqual(['9', '8', 'new', '6']);
    expect(list.view.getSnapshot().chats[0]).toBe(before[0]);
  });

  it('asked for during a reading, it is read once more: that one may have been too early', async () => {
    const { client, link, list } = await watched();
    const started = client.chat('chat-1').start('hello', { createChat: true, assistantId: 'echo' });
    link.last('turn:start').ok({ turn: {}, messages: [], duplicate: true });
    await started;
    link.last('chat:list').ok(page([]));
    await settle();
    expect(link.of('chat:list')).toHaveLength(2);
    link.last('chat:list').ok(page([row(1)]));
    await settle();
    expect(list.view.getSnapshot()).toMatchObject({ status: 'ready', chats: [{ chatId: 'chat-1' }] });
    expect(link.of('chat:list')).toHaveLength(2);
  });

  it('ascending lists go on after the last row', async () => {
    const { link, list, titles } = await ready([row(1), row(2)], 2, { order: 'asc', orderBy: 'createdAt' });
    const loading = list.loadMore();
    await settle();
    expect(link.last('chat:list').args).toMatchObject({ startTime: at(2), timeField: 'createdAt', order: 'asc' });
    link.last('chat:list').ok(page([row(2), row(3)]));
    await loading;
    expect(titles()).toEqual(['1', '2', '3']);
  });

  it('left, it asks for nothing and hears nothing', async () => {
    const { client, link, list, unwatch, clock, wake, titles } = await ready([row(9)]);
    unwatch();
    clock.advance(60_000);
    wake();
    const asked = client.call('chat:update', { chatId: 'chat-9', title: 'x' });
    link.last('chat:update').ok({ chat: row(9, { title: 'x', updatedAt: at(30) }) });
    await asked;
    expect(titles()).toEqual(['9']);
    expect(link.of('chat:list')).toHaveLength(1);
    // Back: what was held is there, and it is read again.
    list.view.subscribe(() => undefined);
    expect(titles()).toEqual(['9']);
    expect(link.of('chat:list')).toHaveLength(2);
  });
});
