import { describe, expect, test } from 'vitest';
import { chatIdOf } from '../../stores/chat-id.js';
import { httpHistory } from '../harness/consistent.js';
import { assistant, pairs, roles, squad, talk, texts, user } from './stores-agent-squad-scene.js';
import { HOSTS } from './stores-hosts.js';

const CHAT = () => chatIdOf('agent-squad', 'user1', 'session1');
const ANN = { userId: 'ann' };

describe.each(HOSTS)('agent-squad ChatStorage %s', (host) => {
  test('agent-squad 2c.1, 2, 4, 10: alternating messages come back in their order', async () => {
    const { storage } = await squad(host);
    expect(await storage.fetchChat('user1', 'session1', 'agent1')).toEqual([]);
    expect(await storage.fetchAllChats('user1', 'session1')).toEqual([]);
    const said = ['Message 1', 'Message 2', 'Message 3', 'Message 4', 'Message 5', 'Message 6'];
    for (const count of [3, 4, 6]) {
      const agent = `agent${count}`;
      const returned = await talk(storage, said.slice(0, count), { agent });
      expect(texts(returned)).toEqual(said.slice(0, count));
      expect(roles(returned)).toBe('uauaua'.slice(0, count));
      expect(await storage.fetchChat('user1', 'session1', agent)).toEqual(returned);
    }
  });

  test('agent-squad 2c.3, 11: a role twice in a row is left out of the conversation, and the chat keeps it', async () => {
    const { storage, server } = await squad(host);
    await storage.saveChatMessage('user1', 'session1', 'lone', user('Hello'));
    expect(await storage.saveChatMessage('user1', 'session1', 'lone', user('Are you there?'))).toEqual([user('Hello')]);
    const all = [
      user('Hello'),
      assistant('Hi there'),
      user('How are you?'),
      user('Are you there?'),
      assistant('Well, thanks!'),
      assistant('And you?'),
      user('Good too'),
    ];
    for (const message of all) await storage.saveChatMessage('user1', 'session1', 'agent1', message);
    expect(await storage.fetchChat('user1', 'session1', 'agent1')).toEqual([0, 1, 2, 4, 6].map((index) => all[index]));
    expect(await storage.fetchAllChats('user1', 'session1')).toHaveLength(6);
    const history = await httpHistory(server.url, await CHAT(), ANN);
    expect(history.map(({ props }) => props['content'])).toEqual(['Hello', 'Are you there?', ...texts(all)]);
  });

  test('agent-squad 2c.5, 6: all agents of a session, answers behind their agent', async () => {
    const { storage } = await squad(host);
    await talk(storage, ['Hello Agent 1', 'Hi from Agent 1']);
    await talk(storage, ['Hello Agent 2', 'Hi from Agent 2'], { agent: 'agent2' });
    for (let repeated = 0; repeated < 2; repeated++)
      expect(await storage.fetchAllChats('user1', 'session1')).toEqual([
        user('Hello Agent 1'),
        assistant('[agent1] Hi from Agent 1'),
        user('Hello Agent 2'),
        assistant('[agent2] Hi from Agent 2'),
      ]);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent2'))).toEqual(['Hello Agent 2', 'Hi from Agent 2']);
  });

  test('agent-squad 2c.7, 8: a size on saving trims for good, an even number, and deletes no row', async () => {
    const { storage, server } = await squad(host);
    expect(texts(await talk(storage, pairs(5), { max: 4 }))).toEqual(['q4', 'a4', 'q5', 'a5']);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1'))).toEqual(['q4', 'a4', 'q5', 'a5']);
    expect(texts(await storage.fetchAllChats('user1', 'session1'))).toEqual(['q4', '[agent1] a4', 'q5', '[agent1] a5']);
    await talk(storage, pairs(4), { agent: 'odd', max: 3 });
    expect(texts(await storage.fetchChat('user1', 'session1', 'odd'))).toEqual(['q4', 'a4']);
    expect(texts(await storage.fetchChat('user1', 'session1', 'odd', 100))).toEqual(['q4', 'a4']);
    expect(await httpHistory(server.url, await CHAT(), ANN)).toHaveLength(18);
    // What was trimmed stays away when a later save names no size, as the streamed answers of 1.0.1 do.
    expect(texts(await talk(storage, ['q6', 'a6']))).toEqual(['q4', 'a4', 'q5', 'a5', 'q6', 'a6']);
  });

  test('agent-squad 2c.9, 14: a size on reading trims what is read alone', async () => {
    const { storage } = await squad(host);
    await talk(storage, pairs(3));
    for (const [max, count] of [
      [undefined, 6],
      [0, 6],
      [1, 6],
      [2, 2],
      [3, 2],
      [4, 4],
      [5, 4],
      [100, 6],
      [-1, 4],
      [-2, 4],
    ] as const)
      expect(await storage.fetchChat('user1', 'session1', 'agent1', max), `max ${max}`).toHaveLength(count);
    expect(texts(await storage.fetchChat('user1', 'session1', 'agent1', 4))).toEqual(['q2', 'a2', 'q3', 'a3']);
    expect(await storage.fetchAllChats('user1', 'session1')).toHaveLength(6);
  });

  test('agent-squad 2c.12: two agents in turn, the session in the order of saving', async () => {
    const { storage } = await squad(host);
    await talk(storage, pairs(5), { agent: 'airlines' });
    await talk(storage, ['what is a lambda?', 'a function'], { agent: 'tech-agent' });
    await talk(storage, [...pairs(2), 'tomorrow'], { agent: 'airlines' });
    expect(await storage.fetchChat('user1', 'session1', 'airlines')).toHaveLength(15);
    expect(await storage.fetchChat('user1', 'session1', 'tech-agent')).toHaveLength(2);
    expect(texts(await storage.fetchAllChats('user1', 'session1')).slice(9, 13)).toEqual([
      '[airlines] a5',
      'what is a lambda?',
      '[tech-agent] a function',
      'q1',
    ]);
  });

  test('agent-squad 2c.15: a batch is saved as it is, all or none, without its timestamps', async () => {
    const { storage, server } = await squad(host);
    const save = (...messages: object[]) =>
      storage.saveChatMessages('user1', 'session1', 'agent1', messages as ReturnType<typeof user>[]);
    expect(await save()).toEqual([]);
    expect(await save(user('one'), { ...user('two'), timestamp: 1_600_000_000_000 })).toEqual([
      user('one'),
      user('two'),
    ]);
    await expect(save(assistant('lost'), { role: 'assistant', content: [{ text: 1n }] })).rejects.toThrow(TypeError);
    expect(await save()).toEqual([]);
    const history = await httpHistory(server.url, await CHAT(), ANN);
    expect(history.map(({ props }) => props['content'])).toEqual(['one', 'two']);
    expect(history[1]?.createdAt).toBe('2020-09-13T12:26:40.000Z');
    const trimmed = await storage.saveChatMessages('user1', 'session1', 'agent1', pairs(2).map(user), 4);
    expect(texts(trimmed)).toEqual(['q1', 'a1', 'q2', 'a2']);
  });

  test('content comes back as it was saved: parts, none, plain text, more fields; lists show the first text', async () => {
    const { storage, server } = await squad(host);
    const image = { image: { format: 'png', source: { url: 'https://x.example/a.png' } } };
    const messages = [
      { role: 'user', content: [{ text: 'look' }, image, { text: 'here' }], name: 'Ann' },
      { role: 'assistant', content: [{ toolUse: { name: 'see', input: {} } }, { text: 'I see' }] },
      { role: 'user', content: undefined },
      { role: 'assistant', content: 'plain' },
      { role: 'user', content: [] },
      { role: 'assistant', content: [{ text: 'cached', cachePoint: { type: 'default' } }] },
    ];
    for (const message of messages) await storage.saveChatMessage('user1', 'session1', 'agent1', message);
    expect(await storage.fetchChat('user1', 'session1', 'agent1')).toStrictEqual(messages);
    expect((await storage.fetchAllChats('user1', 'session1')).map(({ content }) => content)).toEqual([
      messages[0]?.content,
      [{ text: '[agent1] ' }],
      undefined,
      [{ text: '[agent1] plain' }],
      [],
      [{ text: '[agent1] cached' }],
    ]);
    const history = await httpHistory(server.url, await CHAT(), ANN);
    expect(history.map(({ role, type, assistantId, props }) => [role, type, assistantId, props['content']])).toEqual([
      ['user', 'text', null, 'look\nhere'],
      ['assistant', 'text', 'agent1', 'I see'],
      ['user', 'text', null, ''],
      ['assistant', 'text', 'agent1', 'plain'],
      ['user', 'text', null, ''],
      ['assistant', 'text', 'agent1', 'cached'],
    ]);
  });

  test('what is returned is nobody else’s: changing it, or what was given, changes nothing that is stored', async () => {
    const { storage } = await squad(host);
    const given = { role: 'user', content: [{ text: 'one' }] };
    const saving = storage.saveChatMessage('user1', 'session1', 'agent1', given);
    given.content[0]!.text = 'two';
    const returned = await saving;
    expect(returned).toEqual([user('one')]);
    returned.length = 0;
    expect(await storage.fetchChat('user1', 'session1', 'agent1')).toEqual([user('one')]);
  });

  test('what is no message is a TypeError, what is too large a ChatError; nothing is stored and the storage goes on', async () => {
    const { storage } = await squad(host);
    const circular: unknown[] = [];
    circular.push(circular);
    const wrong: unknown[] = [
      null,
      'text',
      {},
      { role: 7, content: [] },
      { role: 'user', content: 7 },
      { role: 'user', content: [() => 'x'] },
      { role: 'user', content: [new Uint8Array(2)] },
      { role: 'user', content: circular },
      { role: 'user', content: [JSON.parse('{"__proto__":{"text":"x"}}')] },
    ];
    for (const [index, message] of wrong.entries())
      await expect(
        storage.saveChatMessage('user1', 'session1', 'agent1', message as never),
        `wrong message ${index}`,
      ).rejects.toThrow(TypeError);
    await expect(storage.saveChatMessage('user1', undefined as never, 'agent1', user('x'))).rejects.toThrow(
      /sessionId/,
    );
    await expect(storage.fetchChat('user1', 'session1', 7 as never)).rejects.toThrow(/agentId/);
    await expect(
      storage.saveChatMessage('user1', 'session1', 'agent1', user('x'.repeat(5_000_000))),
    ).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await storage.fetchAllChats('user1', 'session1')).toEqual([]);
    expect(await storage.saveChatMessage('user1', 'session1', 'agent1', user('fine'))).toEqual([user('fine')]);
  });
});
