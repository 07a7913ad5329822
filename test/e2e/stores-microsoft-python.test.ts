import { describe, expect, test } from 'vitest';
import { createChatClient } from '../../client/index.js';
import type { ChatCommands } from '../../protocol/index.js';
import { chatIdOf } from '../../stores/chat-id.js';
import {
  IndexError,
  ThreadChatMessageStore,
  threadMessageStoreFactory,
  ValueError,
} from '../../stores/microsoft/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { until } from '../harness/until.js';
import { HOSTS } from './stores-hosts.js';
import { answer, RICH, scene, texts, user } from './stores-microsoft-scene.js';

describe.each(HOSTS)('ThreadChatMessageStore (Python), %s', (host) => {
  test('Microsoft 5c.1–5, 13–15: its key, its state without secrets, and resuming', async () => {
    const { chats } = await scene(host);
    const store = new ThreadChatMessageStore({ chats, threadId: 't', maxMessages: 5 });
    expect([store.key, store.maxMessages]).toEqual(['chat_messages:t', 5]);
    expect(new ThreadChatMessageStore({ chats }).threadId).toMatch(/^thread_[0-9a-f-]{36}$/);
    const named = new ThreadChatMessageStore({ chats, threadId: 't', keyPrefix: 'mine' });
    expect(named.key).toBe('mine:t');
    await named.append(user('hi'));
    expect((await chats.call('chat:list', {})).data.map(({ title }) => title)).toEqual(['mine:t']);
    expect(() => new ThreadChatMessageStore({ chats: undefined as never })).toThrow(ValueError);
    expect(() => new ThreadChatMessageStore({ chats, maxMessages: 0 })).toThrow(ValueError);
    expect(() => new ThreadChatMessageStore({ chats, maxMessages: 0 })).toThrow(/^This is no thread: /);
    expect(new ThreadChatMessageStore({ chats, threadId: '' }).threadId).toMatch(/^thread_[0-9a-f-]{36}$/);
    const state = await store.serializeState();
    expect(state).toEqual({ thread_id: 't', key_prefix: 'chat_messages', max_messages: 5 });
    await store.addMessages([user('a')]);
    const other = new ThreadChatMessageStore({ chats });
    await other.deserializeState(null);
    await other.deserializeState('');
    expect(other.threadId).toMatch(/^thread_/);
    for (const wrong of [{ thread_id: 1 }, 'text', { key_prefix: 'x' }]) {
      await expect(other.deserializeState(wrong)).rejects.toThrow(ValueError);
      expect(() => ThreadChatMessageStore.deserialize(wrong, { chats })).toThrow(ValueError);
    }
    expect(() => ThreadChatMessageStore.deserialize(null, { chats })).toThrow(ValueError);
    // As the sample writes it; the address, and the password in it, are not taken up.
    await other.deserializeState({ ...state, redis_url: 'redis://:secret@localhost' });
    expect(await other.serializeState()).toEqual(state);
    expect(texts(await other.listMessages())).toEqual(['a']);
    const resumed = threadMessageStoreFactory({ chats })({ serializedState: state });
    expect(texts(await resumed.listMessages())).toEqual(['a']);
    expect(resumed.maxMessages).toBe(5);
  });

  test('Microsoft 5c.6, 7, 9, 10, 17: pushed in order and whole; nothing is no error; repeated messages are repeated', async () => {
    const { chats } = await scene(host);
    const store = new ThreadChatMessageStore({ chats });
    expect(await store.listMessages()).toEqual([]);
    await store.addMessages([]);
    await store.addMessages(RICH);
    await store.addMessages(RICH.slice(0, 1));
    expect(await store.listMessages()).toEqual([...RICH, RICH[0]]);
    await expect(store.addMessages(null as never)).rejects.toThrow(ValueError);
    await expect(store.addMessages([user('x'), {} as never])).rejects.toThrow(ValueError);
    expect(await store.count()).toBe(6);
  });

  test('Microsoft 5c.8: too many are trimmed for good, by whole exchanges; what others wrote stays in the chat', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, say, view } = await thread();
    await say('user', 'of a person');
    const store = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '', maxMessages: 3 });
    await store.addMessages([user('q1'), answer('a1')]);
    expect(texts(await store.listMessages())).toEqual(['of a person', 'q1', 'a1']);
    await store.addMessages([user('q2'), answer('a2')]);
    expect(texts(await store.listMessages())).toEqual(['q2', 'a2']);
    await until(() => view.messages.length === 3, 'the trimmed chat');
    expect(view.messages.map(({ props }) => props['content'])).toEqual(['of a person', 'q2', 'a2']);
    const wide = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '' });
    expect(texts(await wide.listMessages())).toEqual(['q2', 'a2']);
    // The newest exchange is longer than the list may be: it is not given in part, and not deleted.
    await store.addMessages([user('q3'), ...RICH.slice(1, 3), answer('a3')]);
    expect(await store.listMessages()).toEqual([]);
    expect(texts(await wide.listMessages())).toEqual(['q3', '', '', 'a3']);
    for (let index = 0; index < 5; index++) await store.append(user(`u${index}`));
    expect(texts(await wide.listMessages())).toEqual(['u2', 'u3', 'u4']);
  });

  test('what others wrote leaves the list in one command, however much of it, and stays away', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, say, rows } = await thread();
    for (let index = 0; index < 20; index++) await say('user', `of a person ${index}`);
    const thought = { role: 'assistant' as const, type: 'thinking', props: { content: 'said to nobody' } };
    await chats.call('message:save', { chatId, messages: [thought] });
    const called: string[] = [];
    const counted: ChatCommands = {
      call(name, args) {
        called.push(name);
        return chats.call(name, args);
      },
    };
    const store = new ThreadChatMessageStore({ chats: counted, threadId: chatId, keyPrefix: '', maxMessages: 3 });
    await store.addMessages([user('q1'), answer('a1')]);
    expect(called.filter((name) => name === 'message:update' || name === 'message:delete')).toEqual(['message:update']);
    const wide = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '' });
    expect(texts(await wide.listMessages())).toEqual(['of a person 19', 'q1', 'a1']);
    expect(await rows()).toHaveLength(23);
    called.length = 0;
    await store.addMessages([user('q2'), answer('a2')]);
    // The mark of the next one that leaves, and the exchange.
    expect(called.filter((name) => name === 'message:update' || name === 'message:delete').sort()).toEqual([
      'message:delete',
      'message:update',
    ]);
    expect(texts(await wide.listMessages())).toEqual(['q2', 'a2']);
    // What is left of the list is short: what has left it does not come back into its room.
    await wide.remove((await wide.listMessages())[1]!);
    expect(texts(await store.listMessages())).toEqual(['q2']);
  });

  test('Microsoft 5c.11, 12: what a thread begins with is pushed once, and only where it has nothing', async () => {
    const { chats } = await scene(host);
    const open = () =>
      new ThreadChatMessageStore({ chats, threadId: 't', messages: [user('first'), answer('second')] });
    const [one, two] = [open(), open()];
    await Promise.all([one.listMessages(), two.listMessages()]);
    expect(texts(await one.listMessages())).toEqual(['first', 'second']);
    await one.clear();
    expect(await one.count()).toBe(0);
    await one.append(user('x'));
    expect(texts(await open().listMessages())).toEqual(['x']);
    await one.clear();
    expect(texts(await open().listMessages())).toEqual(['first', 'second']);
  });

  test('Microsoft 5c.16: clear empties the thread, which goes on; the chat stays', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, say, rows } = await thread();
    await say('user', 'of a person');
    const store = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '' });
    await store.addMessages([user('a')]);
    await store.clear();
    await store.clear();
    expect([await store.listMessages(), await rows()]).toEqual([[], []]);
    await store.addMessages([user('b')]);
    expect(texts(await store.listMessages())).toEqual(['b']);
    await store.aclose();
  });

  test('Microsoft 5c.18: what goes wrong is told; ping tells whether there is a server', async () => {
    const { server, chats, thread } = await scene(host);
    const { chatId } = await thread();
    const store = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '' });
    expect(await store.ping()).toBe(true);
    await store.addMessages([user('a')]);
    await chats.call('chat:delete', { chatId });
    expect(await store.listMessages()).toEqual([]);
    await expect(store.addMessages([user('b')])).rejects.toMatchObject({ code: 'not_found' });
    if (host === 'in the process') return;
    const gone = createChatClient({ url: server.url, auth: { userId: 'ann' } });
    gone.close();
    const cut = new ThreadChatMessageStore({ chats: gone });
    expect(await cut.ping()).toBe(false);
    await expect(cut.listMessages()).rejects.toThrow();
  });

  test('Microsoft 5c.19–21: items by place, count, append and extend, index and remove', async () => {
    const { chats } = await scene(host);
    const store = new ThreadChatMessageStore({ chats, threadId: 't' });
    await store.extend([user('a'), user('b')]);
    await store.append(user('a'));
    expect(texts([await store.getItem(0), await store.getItem(-1), await store.getItem(1)])).toEqual(['a', 'a', 'b']);
    for (const place of [3, -4, 0.5]) await expect(store.getItem(place)).rejects.toThrow(IndexError);
    await store.setItem(-2, RICH[2]!);
    expect(await store.getItem(1)).toEqual(RICH[2]);
    await expect(store.setItem(9, user('x'))).rejects.toThrow(IndexError);
    expect(await store.index(user('a'))).toBe(0);
    await expect(store.index(user('b'))).rejects.toThrow(ValueError);
    await store.remove(user('a'));
    expect(await store.listMessages()).toEqual([RICH[2], user('a')]);
    await expect(store.remove(user('b'))).rejects.toThrow(ValueError);
    expect(await store.count()).toBe(2);
  });

  test('threads of different prefixes and ids are apart, whatever the names', async () => {
    const { chats } = await scene(host);
    const store = (keyPrefix: string, threadId: string) => new ThreadChatMessageStore({ chats, keyPrefix, threadId });
    const stores = [store('a', 'b'), store('a', 'c'), store('b', 'b'), store('ü', 'x'.repeat(500))];
    for (const [index, each] of stores.entries()) await each.append(user(`${index}`));
    for (const [index, each] of stores.entries()) expect(texts(await each.listMessages())).toEqual([`${index}`]);
    const { chat } = await chats.call('chat:get', { chatId: await chatIdOf('microsoft', 'a:b') });
    expect(chat.assistantId).toBe('agent-framework');
  });

  test('50 writers at once: nothing lost, one row of numbers, each in its own order', async () => {
    const { chats, thread, server } = await scene(host);
    const { chatId, ann } = await thread();
    const open = (maxMessages: number | null) =>
      new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '', maxMessages });
    const stores = Array.from({ length: 50 }, () => open(null));
    await Promise.all(
      stores.flatMap((store, writer) => [0, 1, 2, 3].map((index) => store.addMessages([user(`${writer}.${index}`)]))),
    );
    const stored = await expectConsistent(server.url, chatId, [ann], { userId: 'ann' });
    expect(stored.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const all = texts(await open(null).listMessages());
    for (let writer = 0; writer < 50; writer++)
      expect(all.filter((text) => text.startsWith(`${writer}.`))).toEqual(
        [0, 1, 2, 3].map((index) => `${writer}.${index}`),
      );
    // And with a bound: the newest stay, whoever trims.
    await Promise.all(Array.from({ length: 20 }, (_, writer) => open(7).append(user(`late ${writer}`))));
    const rest = texts(await open(null).listMessages());
    expect(rest).toHaveLength(7);
    expect(rest.every((text) => text.startsWith('late '))).toBe(true);
  }, 60_000);
});
