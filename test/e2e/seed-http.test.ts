import { beforeEach, describe, expect, test } from 'vitest';
import type { Chat, ErrorBody, Message } from '../../protocol/index.js';
import type { Run } from '../harness/agent.js';
import { uid, type As } from '../harness/peer.js';
import { headersOf } from './request-as.js';
import { scene, type Scene } from './scene.js';

/** Numbers of the seed design's own list that are about its door: the store's refusals, and number 81. */

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly error: ErrorBody;
}

let here: Scene;
beforeEach(async () => {
  here = await scene();
});

async function ask(method: string, path: string, body?: unknown, as: As = {}): Promise<Answer> {
  const response = await fetch(`${here.url}${path}`, {
    method,
    headers: { ...headersOf(as), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body: answer, error: answer['error'] as ErrorBody };
}

const chatOf = ({ body }: Answer): Chat => body['chat'] as Chat;
const told = ({ status, error }: Answer): unknown[] => [status, error?.code];
const NOT_FOUND = [404, 'not_found'];
const BAD = [400, 'bad_request'];

const create = async (fields: object = {}): Promise<Chat> =>
  chatOf(await ask('POST', '/v1/chats', { assistantId: 'bot', ...fields }));

async function answered(run: Run): Promise<void> {
  await run.close();
  await here.person.ended(here.chatId, run.requestId);
}

describe('the seed list over HTTP: chats', () => {
  test('seed 47: a chat gets an id and its defaults, or what is asked for; without an assistant it is refused', async () => {
    const made = await ask('POST', '/v1/chats', { assistantId: 'bot' });
    expect(made.status).toBe(201);
    expect(chatOf(made)).toMatchObject({ status: 'active', share: 'private', public: false, preset: false, sort: 0 });
    expect(chatOf(made)).toMatchObject({ mode: 'chat', title: null, metadata: null, lastMessageAt: null });
    expect(chatOf(made).chatId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);

    const chatId = uid('c');
    const asked = { title: 'Mine', mode: 'task', share: 'team', public: true, preset: true, sort: 5 };
    const full = { chatId, assistantId: 'bot', ...asked, metadata: { tags: ['a'] } };
    expect(chatOf(await ask('POST', '/v1/chats', full))).toMatchObject(full);
    // Again by its owner: the chat that is there; by another: taken.
    const again = await ask('POST', '/v1/chats', { chatId, assistantId: 'other' });
    expect([again.status, again.body['created'], chatOf(again).title]).toEqual([200, false, 'Mine']);
    const stranger = { userId: 'stranger', tenantId: 'elsewhere' };
    expect(told(await ask('POST', '/v1/chats', full, stranger))).toEqual([409, 'conflict']);

    for (const bad of [{}, { assistantId: '' }, { assistantId: null }, null, { assistantId: 'bot', chatId: '' }])
      expect(told(await ask('POST', '/v1/chats', bad)), JSON.stringify(bad)).toEqual(BAD);
  });

  test('seed 48, 50, 81: a chat is there, until it is deleted; then it is as unknown as any, and so is deleting it again', async () => {
    const { chatId } = await create();
    const path = `/v1/chats/${chatId}`;
    expect(chatOf(await ask('GET', path)).chatId).toBe(chatId);
    expect(await ask('DELETE', path)).toMatchObject({ status: 200, body: { chatId } });
    for (const method of ['GET', 'DELETE']) {
      expect(told(await ask(method, path))).toEqual(NOT_FOUND);
      expect(told(await ask(method, `/v1/chats/${uid('c')}`))).toEqual(NOT_FOUND);
      expect(told(await ask(method, '/v1/chats/%20'))).toEqual(BAD);
    }
    expect(told(await ask('GET', `${path}/messages`))).toEqual(NOT_FOUND);
  });

  test('seed 49, 81: title, status and metadata change; ids do not; nothing asked changes nothing; unknown is 404', async () => {
    const before = await create({ title: 'old', metadata: { a: 1 }, sort: 3 });
    const path = `/v1/chats/${before.chatId}`;
    expect(chatOf(await ask('PATCH', path, { title: 'new' }))).toMatchObject({ title: 'new', sort: 3 });
    const several = { status: 'archived', public: true, sort: 7, metadata: { b: [2] } };
    expect(chatOf(await ask('PATCH', path, several))).toMatchObject({ title: 'new', ...several });
    expect(chatOf(await ask('PATCH', path, { metadata: null })).metadata).toBeNull();

    const now = chatOf(await ask('GET', path));
    const ids = { chatId: uid('c'), createdAt: '1999-01-01T00:00:00.000Z', createdBy: 'somebody', assistantId: 'x' };
    for (const nothing of [ids, {}]) {
      const answer = await ask('PATCH', path, nothing);
      expect(answer.status).toBe(200);
      expect({ ...chatOf(answer), updatedAt: '' }).toEqual({ ...now, updatedAt: '' });
    }
    for (const bad of [{ status: 'gone' }, { metadata: [] }, { sort: 'first' }, { title: 7 }])
      expect(told(await ask('PATCH', path, bad)), JSON.stringify(bad)).toEqual(BAD);
    expect(told(await ask('PATCH', `/v1/chats/${uid('c')}`, { title: 'x' }))).toEqual(NOT_FOUND);
  });

  test('seed 81: the list: whole, in pages, by words, by status, by assistant, the newest activity first', async () => {
    const as = { userId: 'lister' };
    let first = '';
    for (const n of [1, 2, 3, 4, 5]) {
      const fields = { title: `Chat ${n}`, assistantId: n === 2 ? 'cook' : 'bot' };
      const { chatId } = chatOf(await ask('POST', '/v1/chats', fields, as));
      if (n > 3) await ask('PATCH', `/v1/chats/${chatId}`, { status: 'archived' }, as);
      if (n === 1) first = chatId;
    }
    const { body } = await ask('POST', `/v1/chats/${first}/turns`, { input: 'hi' }, as);
    await (await here.agent.run((body['turn'] as { requestId: string }).requestId)).close();
    const list = async (query: string) => {
      const { body } = await ask('GET', `/v1/chats${query}`, undefined, as);
      const { data, page, pageSize, pageCount, total } = body as { data: Chat[] } & Record<string, number>;
      return { titles: data.map(({ title }) => title), numbers: [page, pageSize, pageCount, total] };
    };
    const sorted = async (query: string) => (await list(query)).titles.sort();
    expect(await sorted('')).toEqual(['Chat 1', 'Chat 2', 'Chat 3', 'Chat 4', 'Chat 5']);
    expect((await list('')).titles[0]).toBe('Chat 1');
    expect(await sorted('?status=active')).toEqual(['Chat 1', 'Chat 2', 'Chat 3']);
    expect(await sorted('?status=archived')).toEqual(['Chat 4', 'Chat 5']);
    expect(await sorted('?keywords=chat%201')).toEqual(['Chat 1']);
    expect(await sorted('?assistantId=cook')).toEqual(['Chat 2']);
    const pages = [await list('?pageSize=2'), await list('?pageSize=2&page=2'), await list('?pageSize=2&page=3')];
    expect(pages.map(({ numbers }) => numbers)).toEqual([1, 2, 3].map((page) => [page, 2, 3, 5]));
    expect(pages.flatMap(({ titles }) => titles).sort()).toEqual(await sorted(''));
    expect(await list('?page=9')).toEqual({ titles: [], numbers: [9, 20, 1, 5] });
    for (const bad of ['?page=0', '?pageSize=101', '?status=gone', '?scope=mars'])
      expect(told(await ask('GET', `/v1/chats${bad}`)), bad).toEqual(BAD);
  });
});

describe('the seed list over HTTP: messages', () => {
  test('seed 53, 81: all ascending, by role, by type, in pages; of an unknown chat 404', async () => {
    const run = await here.turn();
    const send = (type: string) => run.push({ op: 'send', messageId: uid('m'), type, props: { content: type } });
    for (const type of ['thinking', 'loading', 'text']) await send(type);
    await answered(run);
    const find = async (query: string) => {
      const { body } = await ask('GET', `/v1/chats/${here.chatId}/messages${query}`);
      return (body['messages'] as Message[]).map(({ sequence }) => sequence);
    };
    expect(await find('')).toEqual([1, 2, 3, 4]);
    expect(await find('?role=user')).toEqual([1]);
    expect(await find('?role=assistant')).toEqual([2, 3, 4]);
    expect(await find('?type=loading')).toEqual([3]);
    expect(await find(`?requestId=${run.requestId}&role=assistant&type=text`)).toEqual([4]);
    expect(await find('?limit=2')).toEqual([3, 4]);
    expect(await find('?limit=2&before=3')).toEqual([1, 2]);
    expect(await find('?limit=2&offset=1')).toEqual([2, 3]);
    expect(await find('?offset=3')).toEqual([4]);
    expect(told(await ask('GET', `/v1/chats/${uid('c')}/messages`))).toEqual(NOT_FOUND);
    for (const bad of ['?limit=0', '?limit=201', '?role=robot', '?type='])
      expect(told(await ask('GET', `/v1/chats/${here.chatId}/messages${bad}`)), bad).toEqual(BAD);
  });

  test('seed 55: a message changes its props, type or metadata; of nothing or of nobody it is refused', async () => {
    const run = await here.turn();
    const messageId = await run.send('old');
    await answered(run);
    const path = `/v1/messages/${messageId}`;
    const change = async (body: object) => (await ask('PATCH', path, body)).body['message'];
    expect(await change({ props: { content: 'new' } })).toMatchObject({ type: 'text', props: { content: 'new' } });
    expect(await change({ type: 'note' })).toMatchObject({ type: 'note', props: { content: 'new' } });
    expect(await change({ metadata: { seen: true } })).toMatchObject({ type: 'note', metadata: { seen: true } });
    expect(await change({ metadata: null, messageId: uid('m'), chatId: 'x' })).toMatchObject({
      messageId,
      chatId: here.chatId,
      metadata: null,
    });
    for (const bad of [{}, { props: null }, { createdAt: '1999-01-01T00:00:00.000Z' }])
      expect(told(await ask('PATCH', path, bad)), JSON.stringify(bad)).toEqual(BAD);
    expect(told(await ask('PATCH', `/v1/messages/${uid('m')}`, { type: 'x' }))).toEqual(NOT_FOUND);
  });

  test('seed 56: one is deleted, several are, those that are not there are not named; no ids at all are refused', async () => {
    const run = await here.turn();
    const ids = [await run.send('1'), await run.send('2'), await run.send('3')];
    await answered(run);
    const path = `/v1/chats/${here.chatId}/messages`;
    expect((await ask('DELETE', `${path}?ids=${ids[1]}`)).body).toEqual({ messageIds: [ids[1]] });
    expect((await ask('DELETE', `${path}?ids=${ids.join(',')},nobody`)).body).toEqual({ messageIds: [ids[0], ids[2]] });
    expect((await ask('DELETE', `${path}?ids=nobody`)).body).toEqual({ messageIds: [] });
    for (const none of ['', '?ids=']) expect(told(await ask('DELETE', path + none))).toEqual(BAD);
    expect(told(await ask('DELETE', `/v1/chats/${uid('c')}/messages?ids=${ids[0]}`))).toEqual(NOT_FOUND);
    const left = (await ask('GET', path)).body['messages'] as Message[];
    expect(left.map(({ sequence }) => sequence)).toEqual([1]);
  });
});
