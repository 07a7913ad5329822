import { describe, expect, test } from 'vitest';
import {
  createYaoStore,
  type ChatStore,
  type Message,
  type MessageFilter,
  type NewMessage,
} from '../../stores/yao/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { scene } from './scene.js';
import { commandsOn, HOSTS, type Host } from './stores-hosts.js';
import { expectRefused, yaoOn } from './stores-yao-scene.js';

const text = (content: string, more: Partial<NewMessage> = {}): NewMessage => ({
  ...{ role: 'user', type: 'text', props: { content } },
  ...more,
});
const contents = (messages: readonly Message[]) => messages.map(({ props }) => props['content']);
const sequences = (messages: readonly Message[]) => messages.map(({ sequence }) => sequence);

async function chatOn(host: Host) {
  const { store, ...rest } = await yaoOn(host);
  return { store, ...rest, chatId: (await store.createChat({ assistantId: 'bot' })).chatId };
}

/** Two requests: what is asked, and what is answered in two blocks and two threads. */
async function conversation(store: ChatStore, chatId: string) {
  const [first, second] = [uid('r'), uid('r')];
  await store.saveMessages(chatId, [
    text('1', { requestId: first, type: 'user_input' }),
    text('2', { requestId: first, role: 'assistant', type: 'loading', blockId: 'B1', threadId: 'T1' }),
    text('3', { requestId: second }),
    text('4', { requestId: second, role: 'assistant', blockId: 'B2' }),
    text('5', { requestId: second, role: 'assistant', blockId: 'B2', threadId: 'T2' }),
  ]);
  return { first, second };
}

describe.each(HOSTS)('yao messages, %s', (host) => {
  test('seed 52, 58: one comes back with all its fields, under the number of its row', async () => {
    const { store, chatId } = await chatOn(host);
    const full = {
      ...{ messageId: uid('m'), requestId: uid('r'), role: 'assistant', type: 'custom_chart', blockId: 'B1' },
      ...{ threadId: 'T1', assistantId: 'yao.bot', props: { a: [1, { b: null }], content: 'x' }, metadata: { k: [] } },
      ...{ createdAt: '2024-03-01T10:00:00.000Z' },
    };
    // Of chat and sequence the store decides.
    const [saved] = await store.saveMessages(chatId, [{ ...full, chatId: 'other', sequence: 9 } as NewMessage]);
    expect(saved).toEqual({ ...full, chatId, id: 1, sequence: 1, updatedAt: saved?.updatedAt });
    expect(await store.getMessages(chatId)).toEqual([saved]);

    const draft = text('y', { createdAt: new Date(0), blockId: '', requestId: null });
    const [second] = await store.saveMessages(chatId, [draft]);
    expect(second).toEqual({
      ...{ id: 2, messageId: second?.messageId, chatId, role: 'user', type: 'text', props: { content: 'y' } },
      ...{ sequence: 2, createdAt: '1970-01-01T00:00:00.000Z', updatedAt: second?.updatedAt },
    });
    expect(draft.messageId).toBeUndefined();
  });

  test.each(['user_input', 'thinking', 'loading', 'tool_call', 'retrieval', 'error', 'action', 'my own type'])(
    'seed 12-14, 39: the type %s is carried as it is',
    async (type) => {
      const { store, chatId } = await chatOn(host);
      const props = { content: [{ type: 'text', text: 'a' }, { type: 'image_url' }], role: 'user' };
      await store.saveMessages(chatId, [{ role: 'user', type, props }]);
      expect(await store.getMessages(chatId, { type })).toMatchObject([{ type, props }]);
    },
  );

  test('seed 52: three stand 1, 2, 3; none is a success, nothing in the place of one is skipped; props may be empty', async () => {
    const { store, chatId } = await chatOn(host);
    const saved = await store.saveMessages(chatId, [text('a'), null, text('b'), { ...text(''), props: {} }]);
    expect(sequences(saved)).toEqual([1, 2, 3]);
    expect(sequences(await store.getMessages(chatId))).toEqual([1, 2, 3]);
    for (const none of [[], [null], null])
      expect(await store.saveMessages(chatId, none as unknown as NewMessage[])).toEqual([]);
    expect(await store.saveMessages(uid('c'), [])).toEqual([]);
  });

  test('seed 52: without chat, role, type or props the whole batch is refused, and so is what no message can be', async () => {
    const { store, chatId } = await chatOn(host);
    const save = (bad: object, id = chatId) => store.saveMessages(id, [text('good'), { ...text('bad'), ...bad }]);
    await expectRefused(save({}, ''), 'bad_request', 'chat_id is required');
    await expectRefused(save({ role: '' }), 'bad_request', 'role is required');
    await expectRefused(save({ type: undefined }), 'bad_request', 'type is required');
    await expectRefused(save({ props: null }), 'bad_request', 'props is required');
    for (const bad of [
      { role: 'tool' },
      { type: 'event' },
      { props: [] },
      { props: { at: new Date(0) } },
      { props: JSON.parse('{"__proto__": 1}') as object },
      { messageId: 'm.1' },
      { requestId: 'r 1' },
      { createdAt: 'now' },
    ])
      await expectRefused(save(bad), 'bad_request', /./);
    await expectRefused(save({}, uid('c')), 'not_found', 'not found');
    await expectRefused(save({}, 'no id'), 'not_found', 'chat no id not found');
    const many = Array.from({ length: 1001 }, (_, n) => text(String(n)));
    await expectRefused(store.saveMessages(chatId, many), 'bad_request', '1000');
    await expectRefused(store.saveMessages(chatId, text('x') as unknown as []), 'bad_request', 'must be a list');
    expect(await store.getMessages(chatId)).toEqual([]);
    const [next] = await store.saveMessages(chatId, [text('next')]);
    expect(next?.sequence).toBe(1);
  });

  test('a message again adds nothing; an id of another message, chat or of a deleted one is refused, and all with it', async () => {
    const { store, chatId } = await chatOn(host);
    const messageId = uid('m');
    const [first] = await store.saveMessages(chatId, [text('one', { messageId })]);
    expect(await store.saveMessages(chatId, [text('one', { messageId })])).toEqual([first]);
    const other = await store.createChat({ assistantId: 'bot' });
    await expectRefused(
      store.saveMessages(other.chatId, [text('one', { messageId })]),
      'conflict',
      `message ${messageId} already exists`,
    );
    await expectRefused(
      store.saveMessages(chatId, [text('new'), text('two', { messageId })]),
      'conflict',
      `message ${messageId} already exists`,
    );
    await store.deleteMessages(chatId, [messageId]);
    await expectRefused(store.saveMessages(chatId, [text('one', { messageId })]), 'conflict', 'already exists');
    expect(await store.getMessages(chatId)).toEqual([]);
    expect(await store.getMessages(other.chatId)).toEqual([]);
  });

  test('seed 53, 57: every filter, alone and joined, and every window', async () => {
    const { store, chatId } = await chatOn(host);
    const { first, second } = await conversation(store, chatId);
    const get = async (filter?: MessageFilter | null) => sequences(await store.getMessages(chatId, filter));
    for (const all of [undefined, null, {}, { role: '', limit: 0, offset: 0, beforeId: 0 }, { limit: -1 }])
      expect(await get(all)).toEqual([1, 2, 3, 4, 5]);
    expect(await get({ role: 'user' })).toEqual([1, 3]);
    expect(await get({ requestId: first })).toEqual([1, 2]);
    expect(await get({ requestId: second })).toEqual([3, 4, 5]);
    expect(await get({ blockId: 'B2' })).toEqual([4, 5]);
    expect(await get({ threadId: 'T1' })).toEqual([2]);
    expect(await get({ type: 'loading' })).toEqual([2]);
    expect(await get({ requestId: second, role: 'assistant', blockId: 'B2', threadId: 'T2', type: 'text' })).toEqual([
      5,
    ]);
    for (const none of [{ requestId: 'what?' }, { role: 'tool' }, { blockId: uid('b') }, { type: 'x'.repeat(99) }])
      expect(await get(none)).toEqual([]);
    expect(await get({ limit: 2 })).toEqual([4, 5]);
    expect(await get({ limit: 9 })).toEqual([1, 2, 3, 4, 5]);
    expect(await get({ offset: 3 })).toEqual([4, 5]);
    expect(await get({ offset: 9 })).toEqual([]);
    expect(await get({ limit: 2, offset: 1 })).toEqual([2, 3]);
    expect(await get({ role: 'assistant', offset: 1 })).toEqual([4, 5]);
    expect(await get({ role: 'assistant', limit: 1, offset: 1 })).toEqual([4]);
    expect(await get({ role: 'assistant', limit: 1 })).toEqual([5]);
  });

  test('seed 58, 59: before the third of five there are two, ascending', async () => {
    const { store, chatId } = await chatOn(host);
    await conversation(store, chatId);
    const third = (await store.getMessages(chatId))[2]!;
    const get = async (filter: MessageFilter) => sequences(await store.getMessages(chatId, filter));
    expect(await get({ beforeId: third.id })).toEqual([1, 2]);
    expect(await get({ beforeId: third.id, limit: 1 })).toEqual([2]);
    expect(await get({ beforeId: 5, role: 'assistant' })).toEqual([2, 4]);
    expect(await get({ beforeId: 5, offset: 2, limit: 2 })).toEqual([3, 4]);
    expect(await get({ beforeId: 1 })).toEqual([]);
    expect(await get({ beforeId: 999 })).toEqual([1, 2, 3, 4, 5]);
  });

  test('seed 53: without a chat id it is refused, of an unknown chat there are none', async () => {
    const { store, chatId, storeOf } = await chatOn(host);
    await store.saveMessages(chatId, [text('mine')]);
    await expectRefused(store.getMessages(''), 'bad_request', 'chat_id is required');
    for (const id of [uid('c'), 'no id']) expect(await store.getMessages(id)).toEqual([]);
    expect(await storeOf({ userId: 'user2' }).getMessages(chatId)).toEqual([]);
    await expectRefused(
      store.getMessages(chatId, { afterId: 1 } as MessageFilter),
      'bad_request',
      'afterId is no filter',
    );
    await expectRefused(store.getMessages(chatId, { limit: 0.5 }), 'bad_request', 'limit must be a whole number');
  });

  test('seed 54: two requests of one chat stand in one row of numbers', async () => {
    const { store, chatId } = await chatOn(host);
    const [first, second] = [uid('r'), uid('r')];
    const save = (requestId: string, sequence: number) =>
      store.saveMessages(chatId, [{ ...text(`${requestId}`, { requestId }), sequence } as NewMessage]);
    await save(first, 1);
    await save(second, 1);
    await save(first, 2);
    await save(second, 2);
    expect(sequences(await store.getMessages(chatId, { requestId: first }))).toEqual([1, 3]);
    expect(sequences(await store.getMessages(chatId, { requestId: second }))).toEqual([2, 4]);
  });

  test('seed 55: props, type and metadata change; ids and times are passed over', async () => {
    const { store, chatId } = await chatOn(host);
    const [saved] = await store.saveMessages(chatId, [text('old', { metadata: { a: 1 } })]);
    const { messageId } = saved!;
    const change = async (updates: object) => {
      await store.updateMessage(messageId, updates as Record<string, unknown>);
      return (await store.getMessages(chatId))[0];
    };
    expect(await change({ props: { content: 'new' } })).toMatchObject({ props: { content: 'new' }, type: 'text' });
    expect(await change({ type: 'note' })).toMatchObject({ props: { content: 'new' }, type: 'note' });
    expect(await change({ metadata: { b: 2 } })).toMatchObject({ metadata: { b: 2 } });
    const last = await change({ metadata: null, messageId: uid('m'), chatId: 'x', createdAt: 'never' });
    expect(last).toEqual({
      ...{ ...saved, metadata: undefined, type: 'note', props: { content: 'new' } },
      updatedAt: last?.updatedAt,
    });
  });

  test('seed 55: of an unknown message, without an id, of no fields or of those that do not change: refused', async () => {
    const { store, chatId, storeOf } = await chatOn(host);
    const [saved] = await store.saveMessages(chatId, [text('as it was')]);
    const { messageId } = saved!;
    const update = (updates: unknown, id = messageId) => store.updateMessage(id, updates as Record<string, unknown>);
    await expectRefused(update({ type: 'x' }, ''), 'bad_request', 'message_id is required');
    for (const none of [{}, null, { createdAt: 'x', messageId: 'y' }])
      await expectRefused(update(none), 'bad_request', 'no fields to update');
    for (const bad of ['role', 'sequence', 'blockId', 'content'])
      await expectRefused(update({ type: 'x', [bad]: 'y' }), 'bad_request', `${bad} cannot be updated`);
    for (const bad of [{ props: null }, { props: 'x' }, { type: '' }, { metadata: [] }])
      await expectRefused(update({ type: 'x', ...bad }), 'bad_request', /./);
    for (const id of [uid('m'), 'no id'])
      await expectRefused(update({ type: 'x' }, id), 'not_found', `message ${id} not found`);
    const stranger = storeOf({ userId: 'user2' });
    await expectRefused(stranger.updateMessage(messageId, { type: 'x' }), 'not_found', 'not found');
    expect(await store.getMessages(chatId)).toEqual([saved]);
  });

  test('seed 56: one is deleted, several are, unknown ids and those of other chats are passed over', async () => {
    const { store, chatId } = await chatOn(host);
    const ids = (
      await store.saveMessages(
        chatId,
        ['1', '2', '3', '4'].map((word) => text(word)),
      )
    ).map(({ messageId }) => messageId);
    const other = await store.createChat({ assistantId: 'bot' });
    const [elsewhere] = await store.saveMessages(other.chatId, [text('elsewhere')]);
    await store.deleteMessages(chatId, [ids[1]!]);
    expect(contents(await store.getMessages(chatId))).toEqual(['1', '3', '4']);
    await store.deleteMessages(chatId, [ids[0]!, ids[2]!, uid('m'), 'no id', elsewhere!.messageId]);
    expect(contents(await store.getMessages(chatId))).toEqual(['4']);
    expect(await store.getMessages(other.chatId)).toEqual([elsewhere]);
    await store.deleteMessages(chatId, []);
    await store.deleteMessages(uid('c'), [ids[3]!]);
    await expectRefused(store.deleteMessages('', [ids[3]!]), 'bad_request', 'chat_id is required');
    expect(contents(await store.getMessages(chatId))).toEqual(['4']);
    // A number that was given is not given again.
    expect(sequences(await store.saveMessages(chatId, [text('5')]))).toEqual([5]);
  });

  test('windows, all and deletion go beyond what one command gives', async () => {
    const { store, chatId } = await chatOn(host);
    const all = Array.from({ length: 1500 }, (_, n) => n + 1);
    const ids: string[] = [];
    for (const from of [0, 750]) {
      const batch = all
        .slice(from, from + 750)
        .map((n) => text(String(n), { messageId: `${chatId.slice(0, 40)}-${n}` }));
      ids.push(...(await store.saveMessages(chatId, batch)).map(({ messageId }) => messageId));
    }
    const get = async (filter: MessageFilter) => sequences(await store.getMessages(chatId, filter));
    expect(await get({})).toEqual(all);
    expect(await get({ limit: 450 })).toEqual(all.slice(-450));
    expect(await get({ limit: 450, offset: 100 })).toEqual(all.slice(100, 550));
    expect(await get({ offset: 100 })).toEqual(all.slice(100));
    expect(await get({ limit: 450, beforeId: 1000 })).toEqual(all.slice(549, 999));
    expect(await get({ beforeId: 1000 })).toEqual(all.slice(949, 999));
    await store.deleteMessages(chatId, ids.slice(0, 1400));
    expect(await get({})).toEqual(all.slice(1400));
  }, 60_000);

  test('large messages: pages that hold few of them are put together', async () => {
    const { store, chatId } = await chatOn(host);
    const large = 'x'.repeat(400_000);
    for (const word of ['1', '2', '3', '4', '5', '6', '7'])
      await store.saveMessages(chatId, [text(word, { metadata: { large } })]);
    const get = async (filter: MessageFilter) => sequences(await store.getMessages(chatId, filter));
    expect(await get({})).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await get({ limit: 5 })).toEqual([3, 4, 5, 6, 7]);
    expect(await get({ limit: 5, offset: 1 })).toEqual([2, 3, 4, 5, 6]);
    expect(await get({ limit: 4, beforeId: 7 })).toEqual([3, 4, 5, 6]);
  });

  test('50 writers at once: nothing lost, strict order, each writer in its own, the same for those who follow', async () => {
    const { server, store, storeOf, chatId } = await chatOn(host);
    const follower = await new Person(server.url, { userId: 'user1' }).open();
    const view = await follower.follow(chatId);
    const writers = [store, ...Array.from({ length: 9 }, () => storeOf({ userId: 'user1' }))];
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        for (const index of [0, 2, 4, 6])
          await writers[writer % 10]!.saveMessages(chatId, [
            text(`${writer}.${index}`),
            text(`${writer}.${index + 1}`),
          ]);
      }),
    );
    const messages = await store.getMessages(chatId);
    expect(sequences(messages)).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
    for (let writer = 0; writer < 50; writer++)
      expect(contents(messages).filter((content) => (content as string).startsWith(`${writer}.`))).toEqual(
        Array.from({ length: 8 }, (_, index) => `${writer}.${index}`),
      );
    await expectConsistent(server.url, chatId, [follower], { userId: 'user1' });
    expect(contents(messages)).toEqual(view.messages.map(({ props }) => props['content']));
  }, 60_000);

  test('DAT-1: text that no database can hold is replaced', async () => {
    const { store, chatId } = await chatOn(host);
    await store.saveMessages(chatId, [text('a\ud800b\0c')]);
    expect(contents(await store.getMessages(chatId))).toEqual(['a\ufffdb\ufffdc']);
  });

  test('live both ways: a follower sees what is saved, changed and deleted; the store reads what a turn writes', async () => {
    const { server, person, chatId, view, turn } = await scene();
    const { chats: store } = createYaoStore(commandsOn(host, server, { userId: 'local' }));
    const run = await turn();
    const streamed = await run.send('strea');
    expect(contents(await store.getMessages(chatId))).toEqual(['go', 'strea']);
    await expectRefused(store.updateMessage(streamed, { type: 'x' }), 'conflict', 'still open');
    await expectRefused(
      store.saveMessages(chatId, [text('x', { requestId: run.requestId })]),
      'conflict',
      'This turn is not over.',
    );
    const [saved] = await store.saveMessages(chatId, [text('yao', { role: 'assistant', assistantId: 'yao' })]);
    await run.append(streamed, 'med');
    await run.close();
    await person.ended(chatId, run.requestId);
    const events = view.events.map(({ type }) => type);
    expect(view.messages.map(({ props }) => props['content'])).toEqual(['go', 'streamed', 'yao']);
    expect(contents(await store.getMessages(chatId, { requestId: run.requestId }))).toEqual(['go', 'streamed']);
    await store.updateMessage(saved!.messageId, { props: { content: 'edited' } });
    await store.deleteMessages(chatId, [streamed]);
    await expectConsistent(server.url, chatId, [person]);
    expect(view.messages.map(({ props }) => props['content'])).toEqual(['go', 'edited']);
    expect(view.events.slice(events.length).map(({ type }) => type)).toEqual(['message.updated', 'message.deleted']);
    expect((await store.getChat(chatId)).lastMessageAt).toBeDefined();
  });
});
