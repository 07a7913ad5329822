import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  AgentThread,
  ChatMessageStore,
  chatMessageStoreFactory,
  textMessage,
  textOf,
  threadMessageStoreFactory,
  type ChatMessage,
  type ChatReducer,
  type MessageStoreFactory,
} from '../../stores/microsoft/index.js';
import { startServer } from '../harness/server.js';
import { Shell } from '../harness/shell.js';
import { HOSTS } from './stores-hosts.js';
import { answer, RICH, scene, texts, user } from './stores-microsoft-scene.js';

type Model = (messages: readonly ChatMessage[]) => Promise<{ messages: ChatMessage[]; conversationId?: string }>;

/** What a ChatAgent does with a thread, in its order: list, model, and only then what was said and answered, in one call. */
class ChatAgent {
  constructor(
    private readonly model: Model,
    private readonly factory?: MessageStoreFactory,
  ) {}

  getNewThread(): AgentThread {
    return new AgentThread(this.factory ? { messageStore: this.factory({}) } : {});
  }

  async run(input: string, thread: AgentThread): Promise<string> {
    const asked = user(input);
    const { messages, conversationId = null } = await this.model([
      ...((await thread.messageStore?.listMessages()) ?? []),
      asked,
    ]);
    thread.serviceThreadId = conversationId;
    await thread.onNewMessages([asked, ...messages]);
    return messages.map(textOf).join('');
  }
}

/** Calls a tool, and says how many messages it was given. */
const counting: Model = async (given) => ({ messages: [...RICH.slice(1, 3), answer(`${given.length}`)] });

describe.each(HOSTS)('an agent, %s', (host) => {
  test.each([
    ['.NET', chatMessageStoreFactory],
    ['Python', threadMessageStoreFactory],
  ] as const)(
    'Microsoft 5c.22: a thread of the %s store is serialised, and goes on in the same chat',
    async (_flavour, factory) => {
      const { chats } = await scene(host);
      const storeOf = factory({ chats });
      const agent = new ChatAgent(counting, storeOf);
      const [thread, other] = [agent.getNewThread(), agent.getNewThread()];
      expect(await agent.run('one', thread)).toBe('1');
      expect(await agent.run('other', other)).toBe('1');
      const state = JSON.parse(JSON.stringify(await thread.serialize())) as never;
      expect(JSON.stringify(state)).not.toContain('one');
      const resumed = AgentThread.deserialize(state, storeOf);
      expect(await agent.run('two', resumed)).toBe('5');
      expect(await thread.messageStore?.listMessages()).toEqual([
        user('one'),
        ...RICH.slice(1, 3),
        answer('1'),
        user('two'),
        ...RICH.slice(1, 3),
        answer('5'),
      ]);
      expect(await other.messageStore?.listMessages()).toHaveLength(4);
    },
  );

  test('Microsoft 5c: a run that fails leaves nothing behind, so no question stands without its answer', async () => {
    const { chats } = await scene(host);
    let isDown = true;
    const model: Model = (given) => (isDown ? Promise.reject(new Error('overloaded')) : counting(given));
    const agent = new ChatAgent(model, chatMessageStoreFactory({ chats }));
    const thread = agent.getNewThread();
    await expect(agent.run('lost', thread)).rejects.toThrow('overloaded');
    expect([await thread.messageStore?.listMessages(), (await thread.serialize()).chat_message_store_state]).toEqual([
      [],
      null,
    ]);
    isDown = false;
    await agent.run('kept', thread);
    expect((await thread.messageStore?.listMessages())?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('Microsoft 5c: a service that keeps the conversation is told where there is no store, and refused where there is one', async () => {
    const { chats } = await scene(host);
    const model: Model = async () => ({ messages: [answer('x')], conversationId: 'theirs' });
    const thread = new AgentThread();
    await new ChatAgent(model).run('hi', thread);
    expect(await thread.serialize()).toEqual({ service_thread_id: 'theirs', chat_message_store_state: null });
    const agent = new ChatAgent(model, chatMessageStoreFactory({ chats }));
    await expect(agent.run('hi', agent.getNewThread())).rejects.toMatchObject({ name: 'AgentThreadException' });
  });
});

describe.each(HOSTS)('a reducer, %s', (host) => {
  /** Keeps the last two, and says how many there were before. */
  class Summary implements ChatReducer {
    calls = 0;
    reduce(messages: readonly ChatMessage[]): ChatMessage[] {
      this.calls++;
      if (messages.length <= 3) return [...messages];
      return [textMessage('system', `${messages.length - 2} before`), ...messages.slice(-2)];
    }
  }

  test('Microsoft 5c: before retrieval by default: what it gives is the list from then on; the chat keeps all', async () => {
    const { chats, thread } = await scene(host);
    const { chatId, say, rows } = await thread();
    await say('user', 'of a person', { kept: true });
    const reducer = new Summary();
    const store = ChatMessageStore.fromState(chatId, { chats, reducer });
    await store.addMessages([user('a', { messageId: 'a' }), answer('b'), user('c', { messageId: 'c' })]);
    expect(reducer.calls).toBe(0);
    expect(texts(await store.getMessages())).toEqual(['2 before', 'b', 'c']);
    expect(reducer.calls).toBe(1);
    // Whoever lists the thread finds it so, with a reducer or without.
    const plain = ChatMessageStore.fromState(chatId, { chats });
    expect(texts(await plain.getMessages())).toEqual(['2 before', 'b', 'c']);
    expect((await rows()).map(({ props }) => props['content'])).toEqual(['of a person', 'a', 'b', 'c']);
    expect((await rows())[0]?.metadata).toMatchObject({ kept: true });
    await plain.addMessages([answer('d')]);
    expect(texts(await store.getMessages())).toEqual(['2 before', 'c', 'd']);
    // A transcript that is played again brings nothing back; what it says anew of a message is taken.
    await plain.addMessages([user('a', { messageId: 'a' }), user('C', { messageId: 'c' })]);
    expect(texts(await plain.getMessages())).toEqual(['2 before', 'C', 'd']);
    expect(await rows()).toHaveLength(5);
  });

  test('Microsoft 5c: after adding: once for each call, not before retrieval', async () => {
    const { chats } = await scene(host);
    const reducer = new Summary();
    const store = new ChatMessageStore({ chats, reducer, reducerTrigger: 'afterMessageAdded' });
    await store.addMessages([user('a'), answer('b')]);
    await store.addMessages([user('c'), answer('d')]);
    expect(reducer.calls).toBe(2);
    expect(texts(await store.getMessages())).toEqual(['2 before', 'c', 'd']);
    expect(texts(await ChatMessageStore.fromState(store.serialize(), { chats, maxMessages: 2 }).getMessages())).toEqual(
      ['c', 'd'],
    );
    expect(reducer.calls).toBe(2);
  });

  test('one that fails, or gives what is no message, changes nothing', async () => {
    const { chats } = await scene(host);
    const store = new ChatMessageStore({ chats });
    await store.addMessages([user('a'), answer('b')]);
    for (const reduce of [() => Promise.reject(new Error('no summary')), () => [{} as ChatMessage]])
      await expect(
        ChatMessageStore.fromState(store.serialize(), { chats, reducer: { reduce } }).getMessages(),
      ).rejects.toThrow();
    expect(texts(await store.getMessages())).toEqual(['a', 'b']);
  });
});

describe('the two samples of the tutorial', { timeout: 60_000 }, () => {
  const ROOT = fileURLToPath(new URL('../..', import.meta.url));
  async function outputOf(file: string): Promise<string> {
    const { url } = await startServer();
    const shell = new Shell(`exec node --import tsx ${join('examples', file)}`, {
      cwd: ROOT,
      env: { TURNSTREAM_URL: url },
    });
    expect(await shell.ended(), shell.output).toBe(0);
    return shell.output;
  }

  test('stores-microsoft-redis.ts: push, the newest, state, clear', async () => {
    expect(await outputOf('stores-microsoft-redis.ts')).toBe(
      [
        'user: Tell me a joke about cats',
        'assistant: A joke for 3 messages.',
        'user: Tell me a joke about ghosts',
        'assistant: A joke for 5 messages.',
        'thread_id, key_prefix, max_messages',
        'user: Tell me a joke about ghosts',
        'assistant: A joke for 5 messages.',
        'user: Another one',
        'assistant: A joke for 5 messages.',
        '0 left',
        '',
      ].join('\n'),
    );
  });

  test('stores-microsoft-search.ts: the newest ten in order, and a search by words', async () => {
    const output = await outputOf('stores-microsoft-search.ts');
    const [first, ...lines] = output.trimEnd().split('\n');
    expect(first).toBe('key before the first message: null');
    const newest = ['dog', 'owl', 'fox', 'bee', 'hen'];
    expect(lines).toEqual([
      ...newest.flatMap((animal) => [`user: Tell me about a ${animal}`, `assistant: The ${animal} says hello`]),
      '--- cat',
      'assistant: The cat says hello',
    ]);
  });
});
