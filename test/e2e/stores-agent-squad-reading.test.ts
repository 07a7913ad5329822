import { describe, expect, test } from 'vitest';
import type { ChatCommands, Message, Result } from '../../protocol/index.js';
import { SquadChatStorage, type SquadMessage } from '../../stores/agent-squad/index.js';
import { Random } from '../fuzz/random.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { scene } from './scene.js';
import { assistant, pairs, squad, talk, texts, user } from './stores-agent-squad-scene.js';
import { HOSTS } from './stores-hosts.js';

/** Commands that say how many messages were read through them. */
interface Counted extends ChatCommands {
  /** Who runs them. */
  on: ChatCommands;
  /** Awaited behind each page. */
  afterPage: (messages: readonly Message[]) => unknown;
  /** The messages that `work` read. */
  during(work: () => Promise<unknown>): Promise<number>;
}

function counted(on: ChatCommands): Counted {
  let read = 0;
  const chats: Counted = {
    on,
    afterPage: () => undefined,
    call: async (name, args) => {
      const result = await chats.on.call(name, args);
      if (name !== 'message:list') return result;
      const { messages } = result as Result<'message:list'>;
      read += messages.length;
      await chats.afterPage(messages);
      return result;
    },
    during: async (work) => {
      const before = read;
      await work();
      return read - before;
    },
  };
  return chats;
}

const fetchBy = (storage: SquadChatStorage): Promise<SquadMessage[]> =>
  storage.fetchChat('user1', 'session1', 'agent1');
const sessionBy = (storage: SquadChatStorage): Promise<SquadMessage[]> => storage.fetchAllChats('user1', 'session1');

/** What a storage gives that has kept nothing. */
async function expectAsNew(storage: SquadChatStorage, chats: ChatCommands, chatId?: string): Promise<void> {
  const fresh = new SquadChatStorage(chats, chatId === undefined ? {} : { chatId: () => chatId });
  expect(await fetchBy(storage)).toEqual(await fetchBy(fresh));
  expect(await sessionBy(storage)).toEqual(await sessionBy(fresh));
}

describe.each(HOSTS)('agent-squad reads what is new alone, %s', (host) => {
  test('a session of three pages is read once; a save and what others add, alone', async () => {
    const { chats, server } = await squad(host);
    await new SquadChatStorage(chats).saveChatMessages('user1', 'session1', 'agent1', pairs(225).map(user));
    const mine = counted(chats);
    const storage = new SquadChatStorage(mine);
    expect(await mine.during(() => fetchBy(storage))).toBe(450);
    expect(await mine.during(() => fetchBy(storage))).toBe(0);
    expect(await mine.during(() => sessionBy(storage))).toBe(0);
    expect(await mine.during(() => talk(storage, ['q', 'a']))).toBe(2);
    await talk(new SquadChatStorage(server.as({ userId: 'ann' })), ['elsewhere', 'too'], { agent: 'agent2' });
    expect(await mine.during(() => fetchBy(storage))).toBe(2);
    expect(texts(await fetchBy(storage)).slice(-2)).toEqual(['q', 'a']);
    await expectAsNew(storage, chats);
  });

  test('what the framework does to the messages that it was given changes nothing that is kept', async () => {
    const { storage } = await squad(host);
    const parts = { role: 'user', content: [{ text: 'look' }, { image: { source: 'a' } }], name: 'Ann' };
    await storage.saveChatMessage('user1', 'session1', 'agent1', parts);
    for (const read of [fetchBy, sessionBy]) {
      const given = await read(storage);
      const content = given[0]?.content as object[];
      Object.assign((content[1] as { image: object }).image, { source: 'b' });
      content.push({});
      given.pop();
    }
    expect(await fetchBy(storage)).toEqual([parts]);
    expect(await sessionBy(storage)).toEqual([parts]);
  });

  test('an edit and a deletion between two readings are seen by the second', async () => {
    const { chats, server } = await squad(host);
    const mine = counted(chats);
    const storage = new SquadChatStorage(mine);
    await talk(storage, pairs(3));
    const person = await new Person(server.url, { userId: 'ann' }).open();
    const { messages } = await chats.call('message:list', { chatId: await chatIdOf(chats) });
    await person.do('message:update', { messageId: messages[1]?.messageId, props: { content: 'edited' } });
    expect(texts(await fetchBy(storage))).toEqual(['q1', 'edited', 'q2', 'a2', 'q3', 'a3']);
    await person.do('message:delete', {
      chatId: messages[0]?.chatId,
      messageIds: [messages[2]?.messageId, messages[3]?.messageId],
    });
    expect(texts(await storage.saveChatMessage('user1', 'session1', 'agent1', user('q4')))).toEqual([
      'q1',
      'edited',
      'q3',
      'a3',
      'q4',
    ]);
    expect(await mine.during(() => fetchBy(storage))).toBe(0);
  });

  test('an edit of what was read while the rest is read is seen by the next reading', async () => {
    const { chats } = await squad(host);
    await new SquadChatStorage(chats).saveChatMessages('user1', 'session1', 'agent1', pairs(225).map(user));
    const mine = counted(chats);
    const storage = new SquadChatStorage(mine);
    mine.afterPage = ([first]) => {
      mine.afterPage = () => undefined;
      return chats.call('message:update', { messageId: first?.messageId ?? '', props: { content: 'edited' } });
    };
    expect(texts(await fetchBy(storage))[0]).toBe('q1');
    expect(texts(await fetchBy(storage))[0]).toBe('edited');
    expect(await mine.during(() => fetchBy(storage))).toBe(0);
  });
});

const chatIdOf = async (chats: ChatCommands): Promise<string> =>
  (await chats.call('chat:list', {})).data[0]?.chatId ?? '';

test('a turn in the session: its open message is read until it is closed, the rest once', async () => {
  const { server, chatId, person, turn } = await scene();
  const chats = counted(server.as({ userId: 'local' }));
  const storage = new SquadChatStorage(chats, { chatId: () => chatId });
  await talk(storage, pairs(10));
  const run = await turn();
  const answer = await run.send('half ', {});
  // Read again each time: the open message, and what was said behind it.
  expect(await chats.during(() => sessionBy(storage))).toBe(2);
  expect(texts(await sessionBy(storage)).at(-1)).toBe('go');
  await talk(storage, ['q11', 'a11']);
  await run.append(answer, 'an answer');
  expect(await chats.during(() => sessionBy(storage))).toBe(3);
  expect(texts(await sessionBy(storage)).slice(-3)).toEqual(['go', 'q11', '[agent1] a11']);
  await run.close();
  await person.ended(chatId, run.requestId);
  expect(await chats.during(() => sessionBy(storage))).toBe(3);
  expect(texts(await sessionBy(storage)).slice(-4)).toEqual(['go', '[bot] half an answer', 'q11', '[agent1] a11']);
  expect(await chats.during(() => sessionBy(storage))).toBe(0);
});

test('an answer that is made anew takes the place of what was read', async () => {
  const { server, chatId, person, agent, turn } = await scene();
  const storage = new SquadChatStorage(server.as({ userId: 'local' }), { chatId: () => chatId });
  const run = await turn();
  await run.send('first');
  await run.close();
  await person.ended(chatId, run.requestId);
  expect(texts(await sessionBy(storage))).toEqual(['go', '[bot] first']);
  const { turn: next } = await person.do<Result<'turn:start'>>('turn:start', { chatId, regenerate: run.requestId });
  const again = await agent.run(next.requestId);
  const message = await again.send('second');
  expect(texts(await sessionBy(storage))).toEqual(['go']);
  await again.push({ op: 'end', messageId: message });
  expect(texts(await sessionBy(storage))).toEqual(['go', '[bot] second']);
  await again.close();
  await person.ended(chatId, next.requestId);
  expect(texts(await sessionBy(storage))).toEqual(['go', '[bot] second']);
});

test('after a restart of the server a session is read anew', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServer({ dataDir });
  const chats = counted(server.as({ userId: 'ann' }));
  const storage = new SquadChatStorage(chats);
  await talk(storage, pairs(5));
  await server.close();
  chats.on = (await startServer({ dataDir })).as({ userId: 'ann' });
  expect(await chats.during(() => fetchBy(storage))).toBe(10);
  expect(texts(await fetchBy(storage))).toEqual(pairs(5));
  expect(await chats.during(() => fetchBy(storage))).toBe(0);
});

test('`keptMessages` bounds what is kept of all sessions; the longest unread are read anew', async () => {
  const server = await startServer();
  const chats = counted(server.as({ userId: 'ann' }));
  const storage = new SquadChatStorage(chats, { keptMessages: 25 });
  const readings = async (...sessions: string[]): Promise<number[]> => {
    const counts: number[] = [];
    for (const session of sessions)
      counts.push(await chats.during(() => storage.fetchChat('user1', session, 'agent1')));
    return counts;
  };
  for (const session of ['a', 'b', 'c']) await storage.saveChatMessages('user1', session, 'agent1', pairs(5).map(user));
  await storage.saveChatMessages('user1', 'long', 'agent1', pairs(13).map(user));
  // What is longer than the bound is not kept, and drives out the rest.
  expect(await readings('long', 'a', 'b', 'a', 'b')).toEqual([26, 10, 10, 0, 0]);
  expect(await readings('c', 'b', 'a', 'c')).toEqual([10, 0, 10, 10]);
  expect(await storage.fetchChat('user1', 'long', 'agent1')).toHaveLength(26);
});

test('users who share a chat read it each for themselves', async () => {
  const server = await startServer();
  const storage = new SquadChatStorage((userId) => server.as({ userId }), { chatId: () => 'shared' });
  await storage.saveChatMessage('ann', 's', 'agent1', user('hers'));
  expect(texts(await storage.fetchChat('ann', 's', 'agent1'))).toEqual(['hers']);
  expect(await storage.fetchChat('eve', 's', 'agent1')).toEqual([]);
  await server.as({ userId: 'ann' }).call('chat:delete', { chatId: 'shared' });
  expect(await storage.fetchChat('ann', 's', 'agent1')).toEqual([]);
});

test.each([1, 2, 3])(
  'after whatever is done to a chat, at once or not, what is kept is what is there (seed %i)',
  async (seed) => {
    const { server, chatId, person, turn } = await scene();
    const chats = server.as({ userId: 'local' });
    const random = new Random(seed);
    const storage = new SquadChatStorage(chats, { chatId: () => chatId });
    const any = async (): Promise<Message | undefined> =>
      random.pick((await chats.call('message:list', { chatId, limit: 200 })).messages);
    const run = await turn();
    const open: string[] = [];
    const deeds: (() => Promise<unknown>)[] = [
      () => storage.saveChatMessage('user1', 'session1', 'agent1', random.chance(0.5) ? user('q') : assistant('a')),
      () => storage.saveChatMessages('user1', 'session1', 'agent1', pairs(random.between(1, 3)).map(user)),
      () => chats.call('message:save', { chatId, messages: [{ role: 'user', type: 'text', props: { content: 'x' } }] }),
      async () => void open.push(await run.send('sent')),
      async () => open.length > 0 && run.append(random.pick(open), '.'),
      async () => {
        const [messageId] = open.splice(0, 1);
        if (messageId !== undefined) await run.push({ op: 'end', messageId });
      },
      async () => {
        const message = await any();
        if (message?.state === 'closed')
          await person.do('message:update', {
            messageId: message.messageId,
            props: { content: `e${random.between(0, 9)}` },
          });
      },
      async () => person.do('message:delete', { chatId, messageIds: [(await any())?.messageId] }),
      () => sessionBy(storage),
    ];
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: random.between(1, 5) }, () => random.pick(deeds)()));
      await expectAsNew(storage, chats, chatId);
    }
    await run.close();
    await person.ended(chatId, run.requestId);
    await expectAsNew(storage, chats, chatId);
  },
);
