import '../harness/page.js';
import { act, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ChatClient } from '../../client/index.js';
import { useChats, type ChatsOptions } from '../../client/react/index.js';
import { becomes } from '../harness/becomes.js';
import { Proxy } from '../harness/proxy.js';
import { clientOf, endOf, opened } from '../harness/sdk.js';
import { hook, reactScene } from './react-scene.js';

const ANN = { userId: 'ann', teamId: 't1' };

/** The list as titles, in order. */
function list(client: ChatClient, options?: ChatsOptions) {
  const shown = hook(client, () => useChats(options));
  return { ...shown, titles: () => shown.now().chats.map(({ title }) => title) };
}

async function titled(client: ChatClient, ...titles: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const title of titles) ids.push((await client.call('chat:create', { assistantId: 'bot', title })).chat.chatId);
  return ids;
}

test('create, rename, archive and delete show at once, newest activity first', async () => {
  const { client } = await reactScene();
  const active = list(client, { status: 'active' });
  await waitFor(() => expect(active.now()).toMatchObject({ status: 'ready', chats: [], hasMore: false }));
  const one = await active.now().create({ assistantId: 'bot', title: 'one' });
  const two = await active.now().create({ assistantId: 'bot', title: 'two' });
  await waitFor(() => expect(active.titles()).toEqual(['two', 'one']));
  await active.now().rename(one.chatId, 'first');
  await waitFor(() => expect(active.titles()).toEqual(['two', 'first']));
  await active.now().archive(two.chatId);
  await waitFor(() => expect(active.titles()).toEqual(['first']));
  await active.now().unarchive(two.chatId);
  await waitFor(() => expect(active.titles()).toEqual(['two', 'first']));
  await active.now().deleteChat(one.chatId);
  await waitFor(() => expect(active.titles()).toEqual(['two']));
});

test('a chat that is followed moves to the top with its messages, and goes when it is deleted elsewhere', async () => {
  const { url, client, agent } = await reactScene();
  const elsewhere = clientOf(url, { auth: ANN });
  const [low] = await titled(client, 'low', 'high');
  const mine = list(client);
  await waitFor(() => expect(mine.titles()).toEqual(['high', 'low']));
  const chat = await opened(client, low ?? '');
  const requestId = (await elsewhere.call('turn:start', { chatId: low ?? '', input: 'hello' })).turn.requestId;
  await waitFor(() => expect(mine.titles()).toEqual(['low', 'high']));
  await (await agent.run(requestId)).close();
  await endOf(chat, requestId);
  await elsewhere.chat(low ?? '').update({ title: 'renamed' });
  await waitFor(() => expect(mine.titles()).toEqual(['renamed', 'high']));
  await elsewhere.chat(low ?? '').delete();
  await waitFor(() => expect(mine.titles()).toEqual(['high']));
});

test('a chat that a start creates is in the list', async () => {
  const { client } = await reactScene();
  const mine = list(client);
  await waitFor(() => expect(mine.now().status).toBe('ready'));
  const chatId = client.newId();
  await client.chat(chatId).start('hello', { createChat: true, assistantId: 'bot' });
  await waitFor(() => expect(mine.now().chats.map((chat) => chat.chatId)).toEqual([chatId]));
});

test('pages: each chat once and in order, also when others come and move meanwhile', async () => {
  const { url, client } = await reactScene();
  const elsewhere = clientOf(url, { auth: ANN });
  const titles = Array.from({ length: 12 }, (_, index) => `chat ${index}`);
  const ids = await titled(elsewhere, ...titles);
  const mine = list(client, { pageSize: 5 });
  await waitFor(() => expect(mine.titles()).toEqual(titles.toReversed().slice(0, 5)));
  expect(mine.now().hasMore).toBe(true);
  // What is above moves what is below to other pages, unseen from here: one more, and one less.
  await titled(elsewhere, 'unseen');
  await elsewhere.chat(ids[11] ?? '').delete();
  await elsewhere.chat(ids[10] ?? '').delete();
  await act(() => mine.now().loadMore());
  await act(() => mine.now().loadMore());
  await waitFor(() => expect(mine.now()).toMatchObject({ hasMore: false, isLoadingMore: false }));
  expect(mine.titles()).toEqual(titles.toReversed());
  // Read again from the top: as it is.
  await act(() => mine.now().refresh());
  await waitFor(() => expect(mine.titles()).toEqual(['unseen', ...titles.slice(0, 10).toReversed()]));
});

test('CMD-2: search is by part of the title, whatever its case; another search never shows the rows of the last', async () => {
  const { client } = await reactScene();
  await titled(client, 'Apples', 'pears', 'pineapples');
  let keywords = 'APPLE';
  const found = hook(client, () => ({ keywords, titles: useChats({ keywords }).chats.map(({ title }) => title) }));
  await waitFor(() => expect(found.now().titles).toEqual(['pineapples', 'Apples']));
  keywords = 'pear';
  found.rerender();
  await waitFor(() => expect(found.now().titles).toEqual(['pears']));
  for (const { keywords, titles } of found.all) {
    for (const title of titles) expect(title?.toLowerCase()).toContain(keywords.toLowerCase());
  }
});

test('after a cut and after a sleep the list is read again: nobody tells of chats that are not followed', async () => {
  const { url } = await reactScene();
  const elsewhere = clientOf(url, { auth: ANN });
  const proxy = await Proxy.to(url);
  const wakes = new Set<() => void>();
  const client = clientOf(proxy.url, {
    auth: ANN,
    wake: (wake) => {
      wakes.add(wake);
      return () => void wakes.delete(wake);
    },
  });
  const mine = list(client);
  await waitFor(() => expect(mine.now().status).toBe('ready'));
  await titled(elsewhere, 'made meanwhile');
  proxy.cut();
  await waitFor(() => expect(mine.titles()).toEqual(['made meanwhile']));
  await titled(elsewhere, 'made asleep');
  for (const wake of wakes) wake();
  await waitFor(() => expect(mine.titles()).toEqual(['made asleep', 'made meanwhile']));
});

test('a list that cannot be read says why, and keeps what it holds', async () => {
  const { client } = await reactScene();
  await titled(client, 'one');
  const mine = list(client);
  await waitFor(() => expect(mine.titles()).toEqual(['one']));
  act(() => client.close());
  await becomes(client.connection, ({ status }) => status === 'closed');
  await act(() => mine.now().refresh());
  await waitFor(() => expect(mine.now()).toMatchObject({ status: 'refused', error: { code: 'internal' } }));
  expect(mine.titles()).toEqual(['one']);
  act(() => client.connect());
  await waitFor(() => expect(mine.now()).toMatchObject({ status: 'ready', error: null }));
});
