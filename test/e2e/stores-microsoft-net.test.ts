import { describe, expect, test } from 'vitest';
import {
  ArgumentException,
  ArgumentNullException,
  chatMessageStoreFactory,
  ChatMessageStore,
  textOf,
  ThreadChatMessageStore,
} from '../../stores/microsoft/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { until } from '../harness/until.js';
import { HOSTS } from './stores-hosts.js';
import { answer, RICH, scene, texts, user } from './stores-microsoft-scene.js';

describe.each(HOSTS)('ChatMessageStore (.NET), %s', (host) => {
  test('Microsoft 5c.9, 10, 17: empty, then ascending, with all that a message holds', async () => {
    const { chats } = await scene(host);
    const store = new ChatMessageStore({ chats });
    expect(await store.getMessages()).toEqual([]);
    await store.addMessages(RICH.slice(0, 2));
    await store.addMessages(new Set(RICH.slice(2)));
    expect(await store.getMessages()).toEqual(RICH);
    expect(store.getService(ChatMessageStore)).toBe(store);
    expect(store.getService(ThreadChatMessageStore)).toBeUndefined();
  });

  test('the key is made with the first message; it is all of the state, and the store resumes from it', async () => {
    const { chats } = await scene(host);
    const factory = chatMessageStoreFactory({ chats });
    const store = factory();
    expect(store.serialize()).toBeNull();
    await store.addMessages([]);
    expect([store.serialize(), store.key]).toEqual([null, null]);
    await store.addMessages([user('a')]);
    const state = store.serialize();
    expect(state).toMatch(/^[0-9a-f]{32}$/);
    const again = factory({ serializedState: state });
    await again.addMessages([answer('b')]);
    expect(texts(await store.getMessages())).toEqual(['a', 'b']);
    expect(texts(await ChatMessageStore.fromState(state, { chats }).getMessages())).toEqual(['a', 'b']);
    for (const serializedState of [undefined, null, 1, {}, [state], true])
      expect(factory({ serializedState }).key).toBeNull();
    const named = factory({ serializedState: 'a key: of any kind ü' });
    await named.addMessages([user('x')]);
    expect(texts(await factory({ serializedState: 'a key: of any kind ü' }).getMessages())).toEqual(['x']);
    expect(texts(await factory({ serializedState: 'a key: of any kind u' }).getMessages())).toEqual([]);
  });

  test('null is an ArgumentNullException, what is no message an ArgumentException; nothing is added', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, rows } = await thread();
    const store = ChatMessageStore.fromState(chatId, { chats });
    await expect(store.addMessages(null as never)).rejects.toThrow(ArgumentNullException);
    await expect(store.addMessages(undefined as never)).rejects.toThrow("Value cannot be null. (Parameter 'messages')");
    for (const wrong of [null, 'text', { role: 'user' }, { role: 'user', contents: [{}] }])
      await expect(store.addMessages([user('a'), wrong as never])).rejects.toThrow(ArgumentException);
    await expect(store.addMessages(user('one alone') as never)).rejects.toThrow('messages: expected a sequence.');
    expect(await rows()).toEqual([]);
    expect(() => new ChatMessageStore({ chats: undefined as never })).toThrow(ArgumentNullException);
    expect(() => new ChatMessageStore({ chats, maxMessages: 0 })).toThrow(ArgumentException);
  });

  test('messages without an id never overwrite each other; one with an id takes the place of its earlier self', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, rows } = await thread();
    const store = ChatMessageStore.fromState(chatId, { chats });
    await store.addMessages([
      user('same'),
      user('same'),
      user('first', { messageId: 'm' }),
      user('other', { messageId: 'n' }),
    ]);
    await store.addMessages([user('same')]);
    const before = await rows();
    // A transcript that is played again, unchanged, adds nothing and tells nobody anything.
    await store.addMessages([user('first', { messageId: 'm' })]);
    expect(await rows()).toEqual(before);
    await store.addMessages([
      answer('new'),
      user('second', { messageId: 'm' }),
      user('other', { messageId: 'n', authorName: 'Ann' }),
    ]);
    expect(texts(await store.getMessages())).toEqual(['same', 'same', 'second', 'other', 'same', 'new']);
    expect((await store.getMessages())[3]).toEqual(user('other', { messageId: 'n', authorName: 'Ann' }));
    const [row] = (await rows()).slice(2);
    await chats.call('message:delete', { chatId, messageIds: [row!.messageId] });
    await store.addMessages([user('third', { messageId: 'm' })]);
    await store.addMessages([user('fourth', { messageId: 'm' })]);
    expect(texts(await store.getMessages())).toEqual(['same', 'same', 'other', 'same', 'new', 'fourth']);
    const elsewhere = new ChatMessageStore({ chats });
    await elsewhere.addMessages([user('of another thread', { messageId: 'm' })]);
    expect(texts(await elsewhere.getMessages())).toEqual(['of another thread']);
  });

  test('Microsoft 5c, newest N ascending: a view, which begins with no answer; the chat keeps all', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, rows } = await thread();
    const all = ChatMessageStore.fromState(chatId, { chats });
    for (let turn = 0; turn < 4; turn++)
      await all.addMessages([user(`q${turn}`), ...RICH.slice(1, 3), answer(`a${turn}`)]);
    const view = async (maxMessages: number | null) =>
      texts(await ChatMessageStore.fromState(chatId, { chats, maxMessages }).getMessages());
    expect(await view(null)).toHaveLength(16);
    expect(await view(16)).toHaveLength(16);
    expect(await view(10)).toEqual(['q2', '', '', 'a2', 'q3', '', '', 'a3']);
    expect(await view(4)).toEqual(['q3', '', '', 'a3']);
    expect(await view(3)).toEqual([]);
    expect(await rows()).toHaveLength(16);
  });

  test('what others write is in the list, what it writes is seen by all; edits by people are what a model is given', async () => {
    const { chats, thread, server } = await scene(host);
    const { chatId, ann, say, view } = await thread();
    await say('user', 'hi');
    await say('assistant', 'a rule', { role: 'system' });
    const store = ChatMessageStore.fromState(chatId, { chats });
    await store.addMessages(RICH.slice(0, 2));
    const messages = await store.getMessages();
    expect(messages.map(({ role }) => role)).toEqual(['user', 'system', 'user', 'assistant']);
    await until(() => view.messages.length === 4, 'the messages of the store');
    expect(messages[0]).toEqual(user('hi', { messageId: `turnstream:${view.messages[0]!.messageId}` }));
    // What came from the history and is given back is not added again.
    await store.addMessages(messages);
    expect(await store.getMessages()).toEqual([...messages, messages[3]]);
    await store.addMessages([{ ...messages[0]!, authorName: 'Ann' }]);
    expect((await store.getMessages())[0]).toEqual({ ...messages[0]!, authorName: 'Ann' });
    await chats.call('message:delete', { chatId, messageIds: [view.messages.at(-1)!.messageId] });
    await until(() => view.messages.length === 4, 'the chat without the repeated call');
    expect(view.messages.map(({ role, props }) => [role, props['content']])).toEqual([
      ['user', 'hi'],
      ['assistant', 'a rule'],
      ['user', 'look: àéèï 👀'],
      ['assistant', 'roll({"n":2})'],
    ]);
    await chats.call('message:update', { messageId: view.messages[2]!.messageId, props: { content: 'edited' } });
    await store.addMessages([RICH[0]!]);
    const edited = (await store.getMessages())[2]!;
    expect(textOf(edited)).toBe('edited');
    expect(edited).toMatchObject({ authorName: 'Ann', contents: [{}, RICH[0]!.contents[1], RICH[0]!.contents[2]] });
    await expectConsistent(server.url, chatId, [ann], { userId: 'ann' });
  });

  test('of another user nothing is seen or written', async () => {
    const { chats, server } = await scene(host);
    const store = new ChatMessageStore({ chats });
    await store.addMessages([user('a')]);
    const bob = ChatMessageStore.fromState(store.serialize(), { chats: server.as({ userId: 'bob' }) });
    expect(await bob.getMessages()).toEqual([]);
    await expect(bob.addMessages([user('b')])).rejects.toMatchObject({ name: 'ChatError' });
    expect(texts(await store.getMessages())).toEqual(['a']);
  });

  test('search: all words, in any case, the newest of what is found, ascending', async () => {
    const { chats } = await scene(host);
    const store = new ChatMessageStore({ chats, maxMessages: 1 });
    expect(await store.search('cat')).toEqual([]);
    await store.addMessages([user('A cat'), answer('The CAT says hello'), user('a dog'), answer('cat: hello again')]);
    expect(texts(await store.search('hello cat'))).toEqual(['The CAT says hello', 'cat: hello again']);
    expect(texts(await store.search('cat', 1))).toEqual(['cat: hello again']);
    expect([await store.search(' '), await store.search('bird')]).toEqual([[], []]);
  });

  test('50 writers at once: nothing lost, one row of numbers, what is added in one call stands together', async () => {
    const { chats, thread, server } = await scene(host);
    const { chatId, ann } = await thread();
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        const store = ChatMessageStore.fromState(chatId, { chats });
        for (let index = 0; index < 3; index++)
          await store.addMessages([
            user(`${writer}.${index}?`),
            answer(`${writer}.${index}!`, { messageId: `${writer}.${index}` }),
          ]);
      }),
    );
    const stored = await expectConsistent(server.url, chatId, [ann], { userId: 'ann' });
    expect(stored.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    const all = texts(await ChatMessageStore.fromState(chatId, { chats }).getMessages());
    for (let writer = 0; writer < 50; writer++)
      expect(all.filter((text) => text.startsWith(`${writer}.`))).toEqual(
        [0, 1, 2].flatMap((index) => [`${writer}.${index}?`, `${writer}.${index}!`]),
      );
    for (let at = 0; at < all.length; at += 2) expect(all[at + 1]).toBe(all[at]!.replace('?', '!'));
  }, 60_000);
});
