import { describe, expect, test } from 'vitest';
import { SquadChatStorage } from '../../stores/agent-squad/index.js';
import { ChatHistory, SchemaRegistry } from '../../stores/atomic/index.js';
import { ChatMessageStore, textMessage, textOf, ThreadChatMessageStore } from '../../stores/microsoft/index.js';
import { createYaoStore } from '../../stores/yao/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { Person } from '../harness/person.js';
import { EVERYWHERE, stage } from './bee-generations.js';

/** One framework's store of the chat: it says what is asked and answered, and tells what it holds. */
interface Room {
  readonly name: string;
  say(question: string, answer: string): Promise<unknown>;
  texts(): Promise<(string | undefined)[]>;
}

describe.each(EVERYWHERE)('five frameworks on one chat, Bee by $generation, $host', (where) => {
  test('what one writes is visible to the others and to who follows the chat, in one order', async () => {
    const { server, chats, memories, message, texts } = await stage(where);
    const chatId = 'together';
    const yao = createYaoStore(chats).chats;
    await yao.createChat({ chatId, assistantId: 'echo' });
    const ann = await new Person(server.url, { userId: 'ann' }).open();
    const view = await ann.follow(chatId);
    const squad = new SquadChatStorage(chats, { chatId: () => chatId });
    const memory = await memories.UnconstrainedMemory.open({ chatId });
    const schemas = new SchemaRegistry({});
    const history = await ChatHistory.open({ chats, chatId, schemas });
    const net = ChatMessageStore.fromState(chatId, { chats });
    const python = new ThreadChatMessageStore({ chats, threadId: chatId, keyPrefix: '' });
    const part = (text: string) => [{ text }];
    const rooms: readonly Room[] = [
      {
        name: 'yao',
        say: (question, answer) =>
          yao.saveMessages(chatId, [
            { role: 'user', type: 'text', props: { content: question } },
            { role: 'assistant', type: 'text', props: { content: answer } },
          ]),
        texts: async () => (await yao.getMessages(chatId)).map(({ props }) => props['content'] as string),
      },
      {
        name: 'agent-squad',
        say: async (question, answer) => {
          await squad.saveChatMessage('ann', 's', 'tech', { role: 'user', content: part(question) });
          await squad.saveChatMessage('ann', 's', 'tech', { role: 'assistant', content: part(answer) });
        },
        // Answers stand behind the name of their agent.
        texts: async () =>
          (await squad.fetchAllChats('ann', 's')).map(({ content }) =>
            (content as { text: string }[])[0]?.text.replace(/^\[.*?\] /, ''),
          ),
      },
      {
        name: 'bee',
        say: async (question, answer) => {
          await memory.refresh();
          await memory.addMany([message('user', question), message('assistant', answer)]);
        },
        texts: async () => {
          await memory.refresh();
          return texts(memory);
        },
      },
      {
        name: 'atomic',
        say: async (question, answer) => {
          await history.ready();
          history.initializeTurn();
          history.addMessage('user', schemas.make('BasicChatInputSchema', { chat_message: question }));
          history.addMessage('assistant', schemas.make('BasicChatOutputSchema', { chat_message: answer }));
          await history.flushed();
        },
        texts: async () => {
          await history.ready();
          return history.history.map(({ content }) => (content.data as { chat_message: string }).chat_message);
        },
      },
      ...[net, python].map((store) => ({
        name: store.constructor.name,
        say: (question: string, answer: string) =>
          store.addMessages([textMessage('user', question), textMessage('assistant', answer)]),
        texts: async () => (await store.listMessages()).map(textOf),
      })),
    ];
    const said: string[] = [];
    for (const { name, say } of [...rooms, ...rooms]) {
      const exchange = [`${name} asks ${said.length}`, `${name} answers ${said.length}`] as const;
      await say(...exchange);
      said.push(...exchange);
    }
    const stored = await expectConsistent(server.url, chatId, [ann], { userId: 'ann' });
    expect(stored.map(({ sequence }) => sequence)).toEqual(said.map((_, index) => index + 1));
    expect(view.messages.map(({ role }) => role)).toEqual(said.map((_, index) => (index % 2 ? 'assistant' : 'user')));
    for (const { name, texts } of rooms) expect(await texts(), name).toEqual(said);
  });
});
