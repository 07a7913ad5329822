import { describe, expect, test } from 'vitest';
import type { ChatCommands } from '../../protocol/index.js';
import { SquadChatStorage } from '../../stores/agent-squad/index.js';
import { chatIdOf } from '../../stores/chat-id.js';
import { expectConsistent } from '../harness/consistent.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { scene } from './scene.js';
import { assistant, roles, squad, texts, user } from './stores-agent-squad-scene.js';
import { commandsOn, HOSTS } from './stores-hosts.js';

const CHAT = () => chatIdOf('agent-squad', 'user1', 'session1');
const exchange = async (storage: SquadChatStorage, name: number | string, agent = 'agent1', max?: number) => {
  await storage.saveChatMessage('user1', 'session1', agent, user(`q${name}`), max);
  await storage.saveChatMessage('user1', 'session1', agent, assistant(`a${name}`), max);
};

describe.each(HOSTS)('agent-squad sessions %s', (host) => {
  test('agent-squad 2d: three parallel exchanges keep six messages, each question with its answer', async () => {
    const { storage } = await squad(host);
    await Promise.all([1, 2, 3].map((name) => exchange(storage, name)));
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1'))).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
    const all = texts(await storage.fetchAllChats('user1', 'session1'));
    expect([...all].sort()).toEqual(['[agent1] a1', '[agent1] a2', '[agent1] a3', 'q1', 'q2', 'q3']);
    await exchange(storage, 4);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1', 2))).toEqual(['q4', 'a4']);
  });

  test('agent-squad 2c.15: saves to five agents at once, and sizes in parallel exchanges', async () => {
    const { storage } = await squad(host);
    const agents = [1, 2, 3, 4, 5].map((index) => `agent${index}`);
    await Promise.all(agents.map((agent) => exchange(storage, agent, agent)));
    for (const agent of agents)
      expect(texts(await storage.fetchChat('user1', 'session1', agent))).toEqual([`q${agent}`, `a${agent}`]);
    await Promise.all([1, 2, 3, 4].map((name) => exchange(storage, name, 'sized', 4)));
    expect(texts(await storage.fetchChat('user1', 'session1', 'sized'))).toEqual(['q3', 'a3', 'q4', 'a4']);
  });

  test('50 writers at once, each with a storage of its own: nothing lost, in turn, every answer behind its question', async () => {
    const { server, chats } = await squad(host);
    const person = await new Person(server.url, { userId: 'ann' }).open();
    const chatId = await CHAT();
    await person.createChat({ chatId });
    const view = await person.follow(chatId);
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        const storage = new SquadChatStorage(chats);
        for (let index = 0; index < 3; index++) await exchange(storage, `${writer}.${index}`);
      }),
    );
    const storage = new SquadChatStorage(chats);
    const conversation = await storage.fetchChat('user1', 'session1', 'agent1');
    expect(roles(conversation)).toBe('ua'.repeat(150));
    const said = texts(conversation);
    for (let index = 0; index < said.length; index += 2) expect(said[index + 1]).toBe(said[index]?.replace('q', 'a'));
    for (let writer = 0; writer < 50; writer++)
      expect(said.filter((text) => text.startsWith(`q${writer}.`))).toEqual([0, 1, 2].map((i) => `q${writer}.${i}`));
    expect(await storage.fetchAllChats('user1', 'session1')).toHaveLength(300);
    const history = await expectConsistent(server.url, chatId, [person], { userId: 'ann' });
    expect(history.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect(view.messages.at(-1)?.sequence).toBe(300);
  }, 120_000);

  test('50 exchanges at once in one storage: all of them, the questions in their order', async () => {
    const { storage } = await squad(host);
    await Promise.all(Array.from({ length: 50 }, (_, index) => exchange(storage, index)));
    const conversation = await storage.fetchChat('user1', 'session1', 'agent1');
    expect(roles(conversation)).toBe('ua'.repeat(50));
    const said = texts(conversation);
    expect(said.filter((text) => text.startsWith('q'))).toEqual(Array.from({ length: 50 }, (_, index) => `q${index}`));
    // Which exchange comes to its answer first is the database's.
    const answers = said.filter((text) => text.startsWith('a'));
    expect(answers.sort()).toEqual(Array.from({ length: 50 }, (_, index) => `a${index}`).sort());
  }, 60_000);

  test('a save gives the conversation right behind its message, a reading everything that was asked to be saved before', async () => {
    const { chats } = await squad(host);
    let resolve = (): void => undefined;
    const all = new Promise<void>((done) => (resolve = done));
    let saved = 0;
    // Reads come late, so that each finds what was saved after it, too.
    const late: ChatCommands = {
      call: async (name, args) => {
        if (name === 'message:list') await all;
        const result = await chats.call(name, args);
        if (name === 'message:save' && ++saved === 20) resolve();
        return result;
      },
    };
    const storage = new SquadChatStorage(late);
    const saves = Array.from({ length: 20 }, (_, index) =>
      storage.saveChatMessage('user1', 'session1', 'agent1', (index % 2 ? assistant : user)(`m${index}`)),
    );
    const read = storage.fetchChat('user1', 'session1', 'agent1');
    const session = storage.fetchAllChats('user1', 'session1');
    expect((await Promise.all(saves)).map(({ length }) => length)).toEqual(saves.map((_, index) => index + 1));
    expect(await read).toHaveLength(20);
    expect(await session).toHaveLength(20);
  });

  test('agent-squad 2d: names with separators, prefixes and any characters never meet', async () => {
    const { storage } = await squad(host);
    const places = [
      ['u#1', 's', 'a'],
      ['u', '1#s', 'a'],
      ['u', '1', 's#a'],
      ['u', '1', 's'],
      ['u:1', 's', 'a'],
      ['u', 's', 'a'],
      ['u', 's1', 'a'],
      ['u', 's10', 'a'],
      ['', '', ''],
      ['["u"', '"1"]', 'a'],
      ['constructor', '__proto__', 'toString'],
      ['u', 'p', '__proto__'],
      ['u', 'lone', 'a\ud800'],
      ['u', 'lone', 'a\udfff'],
      ['u', 'lone', 'a\ufffd'],
      ['u', 'lone', 'a\0'],
      ['u', 'lone', 'é'],
      ['u', 'lone', 'e\u0301'],
      ['u', 'long', 'x'.repeat(300)],
      ['u', 'long', `${'x'.repeat(300)}y`],
      ['u\ud800', 'lone', 'a'],
      ['u\ufffd', 'lone', 'a'],
    ] as const;
    for (const [index, [userId, sessionId, agentId]] of places.entries()) {
      await storage.saveChatMessage(userId, sessionId, agentId, user(`q${index}`));
      await storage.saveChatMessage(userId, sessionId, agentId, assistant(`a${index}`));
    }
    for (const [index, [userId, sessionId, agentId]] of places.entries()) {
      expect(texts(await storage.fetchChat(userId, sessionId, agentId))).toEqual([`q${index}`, `a${index}`]);
      const session = places.flatMap(([u, s, a], at) =>
        u === userId && s === sessionId ? [`q${at}`, `[${a}] a${at}`] : [],
      );
      expect(texts(await storage.fetchAllChats(userId, sessionId))).toEqual(session);
    }
  });

  test('one message lost on its way leaves history in step: the next exchange is whole', async () => {
    const server = await startServer();
    const chats = commandsOn(host, server);
    let isBroken = false;
    const breaking: ChatCommands = {
      call: async (name, args) => {
        if (isBroken) throw new Error('the line is down');
        return chats.call(name, args);
      },
    };
    const storage = new SquadChatStorage(breaking);
    await exchange(storage, 1);
    await storage.saveChatMessage('user1', 'session1', 'agent1', user('q2'));
    isBroken = true;
    await expect(storage.saveChatMessage('user1', 'session1', 'agent1', assistant('a2'))).rejects.toThrow(
      'line is down',
    );
    isBroken = false;
    await exchange(storage, 3);
    await exchange(storage, 4);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1'))).toEqual(['q1', 'a1', 'q3', 'a3', 'q4', 'a4']);
    expect(texts(await storage.fetchAllChats('user1', 'session1'))).toContain('q2');
  });

  test('people follow a session live; what they edit is what the agent hears, what they delete it forgets', async () => {
    const { storage, server } = await squad(host);
    await exchange(storage, 1);
    const person = await new Person(server.url, { userId: 'ann' }).open();
    const chatId = await CHAT();
    const view = await person.follow(chatId);
    await exchange(storage, 2, 'Agent #2 – é');
    await expectConsistent(server.url, chatId, [person], { userId: 'ann' });
    expect(view.messages.map(({ assistantId, metadata }) => [assistantId, metadata?.['stores']])).toMatchObject([
      [null, { squad: { agentId: 'agent1' } }],
      ['agent1', { squad: { agentId: 'agent1' } }],
      [null, { squad: { agentId: 'Agent #2 – é' } }],
      [await chatIdOf('agent', 'Agent #2 – é'), { squad: { agentId: 'Agent #2 – é' } }],
    ]);
    expect((await person.do<{ chat: object }>('chat:get', { chatId })).chat).toMatchObject({
      assistantId: 'agent-squad',
      title: 'session1',
      metadata: { squad: { userId: 'user1', sessionId: 'session1' } },
    });
    const parts = { role: 'assistant', content: [{ text: 'old' }, { image: 1 }] };
    await storage.saveChatMessage('user1', 'session1', 'parts', parts);
    const ids = view.messages.map(({ messageId }) => messageId);
    await person.do('message:update', { messageId: ids[1], props: { content: 'edited' } });
    await person.do('message:update', { messageId: view.messages[4]?.messageId, props: { content: 'new' } });
    await person.do('message:delete', { chatId, messageIds: [ids[2]] });
    expect(await storage.fetchChat('user1', 'session1', 'agent1')).toEqual([user('q1'), assistant('edited')]);
    expect(await storage.fetchChat('user1', 'session1', 'parts')).toEqual([
      { role: 'assistant', content: [{ text: 'new' }, { image: 1 }] },
    ]);
    expect(texts(await storage.fetchChat('user1', 'session1', 'Agent #2 – é'))).toEqual(['a2']);
  });

  test('what others write into the session is heard where it was said, and roles still alternate', async () => {
    const { storage, chats, server } = await squad(host, { chatId: () => 'shared' });
    const say = (role: string, content: string, more: object = {}) =>
      chats.call('message:save', {
        chatId: 'shared',
        messages: [{ role: role as 'user', type: 'text', props: { content }, ...more }],
      });
    await exchange(storage, 1);
    await say('user', 'to all');
    await say('assistant', 'from agent1 elsewhere', { assistantId: 'agent1' });
    await say('assistant', 'from a stranger', { assistantId: 'stranger', requestId: 'r-stranger' });
    await say('user', 'to the stranger', { requestId: 'r-stranger' });
    await say('assistant', 'a thought', { type: 'thinking', assistantId: 'agent1' });
    await exchange(storage, 2);
    await exchange(storage, 3, 'agent2');
    const conversation = await storage.fetchChat('user1', 'session1', 'agent1');
    expect(texts(conversation)).toEqual(['q1', 'a1', 'to all', 'from agent1 elsewhere', 'q2', 'a2']);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent2'))).toEqual(['to all+q3', 'a3']);
    expect(texts(await storage.fetchAllChats('user1', 'session1'))).toEqual([
      'q1',
      '[agent1] a1',
      'to all',
      '[agent1] from agent1 elsewhere',
      '[stranger] from a stranger',
      'to the stranger',
      'q2',
      '[agent1] a2',
      'q3',
      '[agent2] a3',
    ]);
    const person = await new Person(server.url, { userId: 'ann' }).open();
    await person.follow('shared');
    await person.start('shared', 'echo me', { assistantId: 'echo', requestId: 'r-echo' });
    await person.ended('shared', 'r-echo');
    expect(texts(await storage.fetchAllChats('user1', 'session1')).slice(-2)).toEqual(['echo me', '[echo] echo me']);
    expect(texts(await storage.fetchChat('user1', 'session1', 'echo'))).toEqual(['to all+echo me', 'echo me']);
    await exchange(storage, 4, 'agent1', 2);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1'))).toEqual(['q4', 'a4']);
  });
});

test('each user of the framework may be a user of the server: the chats are theirs', async () => {
  const server = await startServer();
  const storage = new SquadChatStorage((userId) => server.as({ userId }), {
    chat: { title: 'Support', share: 'team' },
  });
  await storage.saveChatMessage('ann', 's', 'agent1', user('hers'));
  await storage.saveChatMessage('bob', 's', 'agent1', user('his'));
  expect((await server.as({ userId: 'ann' }).call('chat:list', {})).data).toMatchObject([
    { chatId: await chatIdOf('agent-squad', 'ann', 's'), title: 'Support', share: 'team', createdBy: 'ann' },
  ]);
  const stranger = new SquadChatStorage(server.as({ userId: 'eve' }));
  expect(await stranger.fetchChat('ann', 's', 'agent1')).toEqual([]);
  await expect(stranger.saveChatMessage('ann', 's', 'agent1', user('mine'))).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(texts(await storage.fetchChat('ann', 's', 'agent1'))).toEqual(['hers']);
});

test('a session whose chat was deleted is empty and takes no more messages', async () => {
  const server = await startServer();
  const chats = server.as({ userId: 'ann' });
  const storage = new SquadChatStorage(chats);
  await exchange(storage, 1);
  await chats.call('chat:delete', { chatId: await CHAT() });
  expect(await storage.fetchChat('user1', 'session1', 'agent1')).toEqual([]);
  expect(await storage.fetchAllChats('user1', 'session1')).toEqual([]);
  await expect(exchange(storage, 2)).rejects.toMatchObject({ code: 'conflict' });
});

test('what an assistant is still writing is no history yet', async () => {
  const { server, chatId, person, turn } = await scene();
  const storage = new SquadChatStorage(server.as({ userId: 'local' }), { chatId: () => chatId });
  const run = await turn();
  await run.append(await run.send('half '), 'an answer');
  expect(texts(await storage.fetchChat('u', 's', 'bot'))).toEqual(['go']);
  await run.close();
  await person.ended(chatId, run.requestId);
  expect(texts(await storage.fetchChat('u', 's', 'bot'))).toEqual(['go', 'half an answer']);
});
