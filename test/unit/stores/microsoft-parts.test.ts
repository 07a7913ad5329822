import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../protocol/index.js';
import { mayBegin, readMessage, shownOf, withText } from '../../../stores/microsoft/chat-message.js';
import {
  AgentThread,
  AgentThreadException,
  ArgumentException,
  MemoryChatMessageStore,
  textMessage,
  textOf,
  ValueError,
  type AgentMessageStore,
} from '../../../stores/microsoft/index.js';
import type { Listed } from '../../../stores/microsoft/message-chat.js';
import { standingsOf } from '../../../stores/microsoft/reduction.js';
import { surplus } from '../../../stores/microsoft/window.js';

const call = {
  role: 'assistant',
  contents: [{ type: 'functionCall', callId: 'c', name: 'roll', arguments: { n: 2 } }],
};
const result = { role: 'tool', contents: [{ type: 'function_result', call_id: 'c', result: { dice: [1, 2] } }] };

describe('a message', () => {
  test('what people see of it is its text, or its other contents in short', () => {
    expect(
      shownOf({
        role: 'user',
        contents: [
          { type: 'text', text: 'a' },
          { type: 'data', uri: 'data:,' },
          { $type: 'text', text: 'b' },
        ],
      }),
    ).toBe('ab');
    expect(shownOf(call)).toBe('roll({"n":2})');
    expect(shownOf(result)).toBe('{"dice":[1,2]}');
    expect(
      shownOf({
        role: 'user',
        contents: [
          { type: 'uri', uri: 'https://example.org' },
          { type: 'data', mediaType: 'image/png' },
          { type: 'usage' },
        ],
      }),
    ).toBe('https://example.org\n[image/png]\n[usage]');
    expect(shownOf({ role: 'user', contents: [] })).toBe('');
  });

  test('its text can be another; the other contents stay', () => {
    const data = { type: 'data', uri: 'data:,' };
    const message = {
      role: 'user',
      contents: [data, { type: 'text', text: 'a', note: 1 }, data, { type: 'text', text: 'b' }],
    };
    expect(withText(message, 'x').contents).toEqual([data, { type: 'text', text: 'x', note: 1 }, data]);
    expect(withText(call, 'x').contents).toEqual([{ type: 'text', text: 'x' }, ...call.contents]);
    expect(textOf(withText(call, 'x'))).toBe('x');
  });

  test.each([
    null,
    'text',
    [],
    {},
    { role: 'user' },
    { role: '', contents: [] },
    { role: 'user', contents: ['text'] },
    { role: 'user', contents: [{ text: 'x' }] },
    { role: 'user', contents: [], messageId: 1 },
    { role: 'user', contents: [], additionalProperties: [] },
    { role: 'user', contents: [{ type: 'data', bytes: new Uint8Array(1) }] },
    { role: 'user', contents: [{ type: 'usage', count: Infinity }] },
    { role: 'user', contents: [{ type: 'x', deep: JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown }] },
  ])('%j is none', (value) => {
    expect(() => readMessage(value, ArgumentException)).toThrow(ArgumentException);
    expect(() => readMessage(value, ValueError)).toThrow(ValueError);
  });
});

describe('the surplus of a list', () => {
  const user = textMessage('user', 'u');
  const answer = textMessage('assistant', 'a');
  test.each([
    ['no bound', [user, answer], null, 0],
    ['room enough: an answer may stand first, as it always did', [answer, user], 2, 0],
    ['exchanges go whole', [user, answer, user, answer], 3, 2],
    ['exactly', [user, answer, user, answer], 2, 2],
    ['a result goes with its call', [user, call, result, answer, user], 3, 4],
    ['a result in the name of a user is a result', [user, call, { ...result, role: 'user' }, user], 2, 3],
    ['nothing may begin', [user, call, result, answer], 2, 4],
    ['an instruction may', [user, textMessage('system', 's'), answer], 2, 1],
  ])('%s', (_case, list, max, expected) => {
    expect(surplus(list, max, mayBegin)).toBe(expected);
  });
});

describe('a reduction', () => {
  const row = (messageId: string) => ({ messageId }) as Message;
  const [one, two, three] = [row('1'), row('2'), row('3')];
  const listed: Listed[] = [one, two, three].map((place) => ({
    row: place,
    message: textMessage('user', place.messageId),
    isOwn: true,
  }));
  const [a, b, c] = listed.map(({ message }) => message) as [never, never, never];
  const summary = textMessage('system', 'summary');

  test('what a reducer made stands before what it kept; what it left out does not stand', () => {
    expect(standingsOf(listed, [a, b, c])).toEqual(new Map());
    expect([...standingsOf(listed, [summary, c])]).toEqual([
      [one, []],
      [two, []],
      [three, [summary, null]],
    ]);
    expect([...standingsOf(listed, [a, b, c, summary])]).toEqual([[three, [null, summary]]]);
    expect([...standingsOf(listed, [summary])]).toEqual([
      [one, []],
      [two, []],
      [three, [summary]],
    ]);
    expect(standingsOf([], [summary])).toEqual(new Map());
  });

  test('what an earlier one made can be kept and left out', () => {
    const again: Listed[] = [{ row: three, message: summary, isOwn: false }, listed[2]!];
    expect(standingsOf(again, [summary, c])).toEqual(new Map());
    expect([...standingsOf(again, [c])]).toEqual([[three, [null]]]);
  });
});

test('a reduction gives the list that the reducer gave, whatever it left out, made, or gave in another order', () => {
  const row = fc.array(fc.boolean(), { minLength: 1, maxLength: 3 });
  const choice = fc.record({ kept: fc.nat(), isMade: fc.boolean() });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), fc.array(choice, { maxLength: 12 }), (rows, choices) => {
      const listed: Listed[] = rows.flatMap((places, index) => {
        const held = { messageId: `${index}` } as Message;
        const own = places.indexOf(true);
        return places.map((_, place) => ({
          ...{ row: held, message: textMessage('user', `${index}.${place}`) },
          isOwn: place === own,
        }));
      });
      const reduced = choices.map(({ kept, isMade }) =>
        isMade ? textMessage('system', 'made') : listed[kept % listed.length]!.message,
      );
      const standings = standingsOf(listed, reduced);
      const read = [...new Set(listed.map(({ row: held }) => held))].flatMap((held) => {
        const before = listed.filter((entry) => entry.row === held);
        const own = before.find(({ isOwn }) => isOwn)?.message;
        const standing = standings.get(held) ?? before.map(({ message, isOwn }) => (isOwn ? null : message));
        return standing.map((item) => item ?? own);
      });
      expect(read).toEqual(reduced);
    }),
  );
});

describe('AgentThread', () => {
  const hi = textMessage('user', 'hi');
  const store = () => new MemoryChatMessageStore();

  test('Microsoft 5c: an id of the service or a store, never both, and no change from one to the other', () => {
    const mine = new AgentThread({ messageStore: store() });
    const theirs = new AgentThread({ serviceThreadId: 'id' });
    expect(() => (mine.serviceThreadId = 'id')).toThrow(AgentThreadException);
    expect(() => (theirs.messageStore = store())).toThrow(AgentThreadException);
    expect(() => new AgentThread({ serviceThreadId: 'id', messageStore: store() })).toThrow(AgentThreadException);
    mine.serviceThreadId = null;
    theirs.messageStore = null;
    theirs.serviceThreadId = 'other';
    expect([mine.serviceThreadId, theirs.messageStore, theirs.serviceThreadId]).toEqual([null, null, 'other']);
    expect([mine, theirs, new AgentThread()].map(({ isInitialized }) => isInitialized)).toEqual([true, true, false]);
  });

  test('Microsoft 5c: new messages go to the store, which is made where there is none; a service keeps its own', async () => {
    const none = new AgentThread();
    await none.onNewMessages(hi);
    await none.onNewMessages([hi, hi]);
    expect(await none.messageStore?.listMessages()).toEqual([hi, hi, hi]);
    const theirs = new AgentThread({ serviceThreadId: 'id' });
    await theirs.onNewMessages(hi);
    expect(theirs.messageStore).toBeNull();
  });

  test('Microsoft 5c: the store in memory takes several, none and no others; what it gives is a copy', async () => {
    const memory = store();
    await memory.addMessages([hi, hi]);
    await memory.addMessages([]);
    await expect(memory.addMessages(null as never)).rejects.toThrow(ValueError);
    await expect(memory.addMessages([hi, {} as never])).rejects.toThrow(ValueError);
    (await memory.listMessages()).length = 0;
    expect(await memory.listMessages()).toEqual([hi, hi]);
    expect(await memory.serializeState()).toEqual({ messages: [hi, hi] });
  });

  test('Microsoft 5c: a store that fails is told as the cause', async () => {
    const failing: AgentMessageStore = {
      addMessages: async () => Promise.reject(new Error('down')),
      listMessages: async () => [],
      serializeState: async () => null,
    };
    const thread = new AgentThread({ messageStore: failing });
    await expect(thread.onNewMessages(hi)).rejects.toMatchObject({
      name: 'AgentThreadException',
      cause: { message: 'down' },
    });
  });

  test('Microsoft 5c: a thread comes back from its state: with an id, with messages, with nothing', async () => {
    const thread = new AgentThread({ messageStore: new MemoryChatMessageStore({ messages: [hi as never] }) });
    const again = AgentThread.deserialize((await thread.serialize()) as never);
    expect(await again.messageStore?.listMessages()).toEqual([hi]);
    expect(AgentThread.deserialize({ service_thread_id: 'id' }).serviceThreadId).toBe('id');
    expect(AgentThread.deserialize({}).isInitialized).toBe(false);
    for (const state of [{}, null, { messages: null }, { messages: [] }])
      expect(await new MemoryChatMessageStore(state ?? undefined).listMessages()).toEqual([]);
    expect(() => AgentThread.deserialize(1)).toThrow(AgentThreadException);
    expect(() => AgentThread.deserialize({ chat_message_store_state: { messages: 1 } })).toThrow(AgentThreadException);
  });
});
