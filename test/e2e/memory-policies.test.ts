import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { Message } from '../../protocol/index.js';
import { SquadChatStorage, type SquadMessage } from '../../stores/agent-squad/index.js';
import { ChatHistory, SchemaRegistry } from '../../stores/atomic/index.js';
import {
  inTurn,
  keepingSystem,
  lastMessages,
  selected,
  summarised,
  withinTokens,
  type MemoryPolicy,
  type Reading,
} from '../../stores/memory/index.js';
import { ChatMessageStore, type ChatMessage } from '../../stores/microsoft/index.js';
import { createYaoStore, type Message as YaoMessage } from '../../stores/yao/index.js';
import { Agent } from '../harness/agent.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { HOSTS } from './stores-hosts.js';
import { answer, RICH, scene, texts, user } from './stores-microsoft-scene.js';

type Said = Pick<Message, 'role' | 'metadata' | 'props'>;
const textIn = ({ props }: Pick<Said, 'props'>): string => props['content'] as string;

/** Each kind, and what it leaves of `be brief`, three questions with answers, and a fourth question. */
const POLICIES: readonly (readonly [string, MemoryPolicy<Said>, readonly string[]])[] = [
  ['last k', lastMessages(4), ['q3', 'a3', 'q4']],
  ['token budget', withinTokens(7, (message) => textIn(message).length), ['q3', 'a3', 'q4']],
  ['keep system messages', keepingSystem(lastMessages(2)), ['be brief', 'q4']],
  ['custom selector', selected((all) => all.filter((one) => /[12]$/.test(textIn(one)))), ['q1', 'a1', 'q2', 'a2']],
  [
    'summarise',
    summarised({
      keep: 3,
      summarise: async (older) => older.map(textIn).join(),
      messageOf: (content) => ({ role: 'assistant', metadata: { role: 'system' }, props: { content } }),
    }),
    ['be brief,q1,a1,q2,a2', 'q3', 'a3', 'q4'],
  ],
  ['one after the other', inTurn(keepingSystem(lastMessages(4)), lastMessages(1)), ['q4']],
];

/** What each policy leaves. */
const chosen = (messages: readonly Said[]): Promise<(readonly [string, string[]])[]> =>
  Promise.all(POLICIES.map(async ([name, policy]) => [name, (await policy(messages)).map(textIn)] as const));
const EXPECTED = POLICIES.map(([name, , left]) => [name, left]);

describe('memory policies in a turn', () => {
  test('they choose of ctx.history() and of the history of turn:assigned alike, and people keep the whole', async () => {
    let inProcess: unknown;
    const here = defineAssistant({
      assistantId: 'here',
      run: async (ctx) => {
        inProcess = await chosen([...ctx.history(), ...ctx.input]);
        await ctx.send('a4');
      },
    });
    const { url } = await startServer({ assistants: [here] });
    const agent = await new Agent(url, ['remote']).join();
    const person = await new Person(url).open();
    const talk = async (assistantId: string) => {
      const chatId = await person.createChat({ assistantId });
      const view = await person.follow(chatId);
      const said = (role: string, content: string, metadata: object | null = null) => ({
        ...{ role, type: 'text', props: { content }, metadata },
      });
      const exchanges = [1, 2, 3].flatMap((n) => [said('user', `q${n}`), said('assistant', `a${n}`)]);
      const messages = [said('assistant', 'be brief', { role: 'system' }), ...exchanges];
      await person.do('message:save', { chatId, messages });
      return { chatId, view, requestId: (await person.start(chatId, 'q4')).turn.requestId };
    };
    const first = await talk('here');
    await person.ended(first.chatId, first.requestId);
    expect(inProcess).toEqual(EXPECTED);
    const second = await talk('remote');
    const run = await agent.run(second.requestId);
    const { history = [], input = [] } = run.assignment ?? {};
    expect(await chosen([...history, ...input])).toEqual(EXPECTED);
    await run.send('a4');
    await run.close();
    await person.ended(second.chatId, second.requestId);
    for (const { view } of [first, second])
      expect(view.messages.map(textIn)).toEqual(['be brief', 'q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'q4', 'a4']);
  });
});

describe.each(HOSTS)('memory policies over what a store gives, %s', (host) => {
  test('messages of a framework’s own form, tool calls and results among them; and a reducer is one', async () => {
    const { chats } = await scene(host);
    const ids = ({ contents }: ChatMessage, type: string) =>
      contents.flatMap((content) => (content['type'] === type ? [String(content['callId'])] : []));
    const reading: Reading<ChatMessage> = {
      role: ({ role }) => (role === 'tool' || role === 'system' || role === 'user' ? role : 'assistant'),
      calls: (message) => ids(message, 'functionCall'),
      results: (message) => ids(message, 'functionResult'),
    };
    const policy = lastMessages(4, reading);
    const store = new ChatMessageStore({ chats, reducer: { reduce: policy } });
    const called = RICH.slice(1, 3);
    await store.addMessages([user('q1'), answer('a1'), user('q2'), ...called, answer('a2')]);
    expect(await store.getMessages()).toEqual([user('q2'), ...called, answer('a2')]);
    // The fourth newest is the call's result, without its call.
    await store.addMessages([user('q3'), answer('a3')]);
    expect(texts(await store.getMessages())).toEqual(['q3', 'a3']);
  });

  test('yao, agent-squad and Atomic: a question first', async () => {
    const { chats } = await scene(host);
    const reading = <M>(role: (message: M) => string): Reading<M> => ({
      role: (message) => (role(message) === 'user' ? 'user' : 'assistant'),
      calls: () => [],
      results: () => [],
    });
    const squad = new SquadChatStorage(chats, { chatId: () => 'shared' });
    for (const [index, text] of ['q1', 'a1', 'q2', 'a2'].entries())
      await squad.saveChatMessage('ann', 's', 'tech', { role: index % 2 ? 'assistant' : 'user', content: [{ text }] });
    const ofSquad = lastMessages(
      3,
      reading<SquadMessage>(({ role }) => role),
    );
    expect((await ofSquad(await squad.fetchChat('ann', 's', 'tech'))).map(({ content }) => content)).toEqual([
      [{ text: 'q2' }],
      [{ text: 'a2' }],
    ]);
    const ofYao = lastMessages(
      3,
      reading<YaoMessage>(({ role }) => role),
    );
    expect((await ofYao(await createYaoStore(chats).chats.getMessages('shared'))).map(textIn)).toEqual(['q2', 'a2']);
    const history = await ChatHistory.open({ chats, chatId: 'shared', schemas: new SchemaRegistry({}) });
    type Given = ReturnType<ChatHistory['getHistory']>[number];
    const given = await lastMessages(
      3,
      reading<Given>(({ role }) => role),
    )(history.getHistory());
    expect(given.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});
