import { describe, expect, test } from 'vitest';
import type { Message } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { type Refused, uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { requestAs } from './request-as.js';
import { scene } from './scene.js';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A person with a chat of so many closed messages, sequences 1…count. */
async function history(count: number) {
  const { url } = await startServer();
  const person = await new Person(url).open();
  const chatId = await person.createChat();
  for (let begun = 0; begun < count; begun += 100) {
    const input = range(begun + 1, Math.min(begun + 100, count)).map((sequence) => ({
      type: 'n',
      props: { sequence },
      metadata: null,
    }));
    const { turn } = await person.start(chatId, input, { assistantId: 'absent', requestId: `r${begun / 100}` });
    await person.do('turn:stop', { requestId: turn.requestId });
  }
  const sequences = async (args: Record<string, unknown>) => {
    const { messages, hasMore } = await person.do<{ messages: Message[]; hasMore: boolean }>('message:list', {
      chatId,
      ...args,
    });
    return { found: messages.map(({ sequence }) => sequence), hasMore };
  };
  return { url, person, chatId, sequences };
}

describe('CMD-2: pages', () => {
  test('CMD-2: limit alone gives the newest, ascending; before and after the nearest; offset from the oldest', async () => {
    const { sequences } = await history(230);
    expect(await sequences({})).toEqual({ found: range(181, 230), hasMore: true });
    expect(await sequences({ limit: 1 })).toEqual({ found: [230], hasMore: true });
    expect(await sequences({ limit: 200 })).toEqual({ found: range(31, 230), hasMore: true });
    expect(await sequences({ limit: 3, before: 10 })).toEqual({ found: [7, 8, 9], hasMore: true });
    expect(await sequences({ limit: 9, before: 10 })).toEqual({ found: range(1, 9), hasMore: false });
    expect(await sequences({ before: 1 })).toEqual({ found: [], hasMore: false });
    expect(await sequences({ limit: 3, after: 10 })).toEqual({ found: [11, 12, 13], hasMore: true });
    expect(await sequences({ after: 229 })).toEqual({ found: [230], hasMore: false });
    expect(await sequences({ after: 230 })).toEqual({ found: [], hasMore: false });
    expect(await sequences({ after: 0, limit: 2 })).toEqual({ found: [1, 2], hasMore: true });
    expect(await sequences({ after: 10, before: 13 })).toEqual({ found: [11, 12], hasMore: false });
    expect(await sequences({ offset: 228 })).toEqual({ found: [229, 230], hasMore: false });
    expect(await sequences({ offset: 5, limit: 2, requestId: 'r1' })).toEqual({ found: [106, 107], hasMore: true });
    expect(await sequences({ requestId: 'r2', limit: 200 })).toEqual({ found: range(201, 230), hasMore: false });
    for (const filter of [
      { role: 'assistant' },
      { type: 'other' },
      { blockId: 'b' },
      { threadId: 't' },
      { requestId: 'none' },
    ]) {
      expect(await sequences(filter), JSON.stringify(filter)).toEqual({ found: [], hasMore: false });
    }
  });

  test('CMD-2: the same filters hold for what is still in the buffer', async () => {
    const here = await scene();
    const run = await here.turn();
    const send = (props: object) =>
      run.push({ op: 'send', messageId: uid('m'), type: 'text', props: { content: 'x' }, ...props });
    await send({ blockId: 'b1' });
    await send({ threadId: 't1' });
    await send({ type: 'card', blockId: 'b1' });
    const find = async (args: object) =>
      (await here.person.do<{ messages: Message[] }>('message:list', { chatId: here.chatId, ...args })).messages.map(
        ({ sequence }) => sequence,
      );
    const expected: [object, number[]][] = [
      [{ blockId: 'b1' }, [2, 4]],
      [{ threadId: 't1' }, [3]],
      [{ type: 'card' }, [4]],
      [{ role: 'user' }, [1]],
      [{ role: 'assistant', limit: 2 }, [3, 4]],
      [{ after: 1, limit: 2 }, [2, 3]],
      [{ before: 4, limit: 2 }, [2, 3]],
      [{ offset: 1, limit: 2 }, [2, 3]],
      [{ offset: 3 }, [4]],
      [{ requestId: run.requestId }, [1, 2, 3, 4]],
    ];
    for (const [args, found] of expected) expect(await find(args), `live ${JSON.stringify(args)}`).toEqual(found);
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    for (const [args, found] of expected) expect(await find(args), `stored ${JSON.stringify(args)}`).toEqual(found);
  });

  test('C28: whatever stands for a number is a page or bad_request, by socket and by HTTP, in order', async () => {
    const { url, person, chatId } = await history(210);
    const values = [
      -1,
      0,
      1,
      200,
      201,
      1e9,
      1.5,
      2 ** 53,
      'abc',
      '',
      NaN,
      null,
      true,
      '1;drop table agent_message',
      ['1', '2'],
      ' 5',
      '5',
      '1e2',
      '0x10',
      {},
    ];
    const isGood: Record<string, (value: unknown) => boolean> = {
      limit: (value) => value === 1 || value === 200,
      before: (value) => [0, 1, 200, 201, 1e9].includes(value as number),
      after: (value) => [0, 1, 200, 201, 1e9].includes(value as number),
      offset: (value) => [0, 1, 200, 201, 1e9].includes(value as number),
    };
    const check = async (work: Promise<unknown>, isValid: boolean, what: string) => {
      const answer = await work.then(
        (data) => data as { messages: Message[] },
        (error: unknown) => (error as Refused).error,
      );
      if (!isValid) {
        expect.soft(answer, what).toMatchObject({ code: 'bad_request' });
        return;
      }
      const { messages } = answer as { messages: Message[] };
      expect.soft(messages.length, what).toBeLessThanOrEqual(200);
      expect
        .soft(
          messages.map(({ sequence }) => sequence),
          what,
        )
        .toEqual(messages.map(({ sequence }) => sequence).sort((a, b) => a - b));
    };
    for (const [name, good] of Object.entries(isGood)) {
      for (const value of values) {
        const what = `${name}=${JSON.stringify(value)}`;
        await check(person.do('message:list', { chatId, [name]: value }), good(value), what);
        // Over HTTP everything is text: what reads as a whole number is one.
        if (typeof value === 'object' || Number.isNaN(value)) continue;
        const isNumeral = typeof value === 'number' || /^\d+$/.test(value as string);
        await check(
          requestAs(url, {}, 'message:list', { chatId, [name]: value }),
          isNumeral && good(Number(value) === 5 ? 1 : Number(value)),
          `HTTP ${what}`,
        );
      }
    }
    for (const query of ['limit=1&limit=2', 'limit[]=1', 'limit', 'limit=%20']) {
      const answer = await fetch(`${url}/v1/chats/${chatId}/messages?${query}`);
      expect([query, answer.status]).toEqual([query, query === 'limit[]=1' ? answer.status : 400]);
      expect(answer.status).toBeLessThan(500);
    }
  });

  test('C28, CMD-2: pageSize 1…100, page from 1, limit of turns', async () => {
    const { url } = await startServer();
    const person = await new Person(url).open();
    for (let index = 0; index < 25; index++) await person.createChat({ title: `${index}` });
    const { data, ...first } = await person.do<{ data: { title: string }[] }>('chat:list', {});
    expect(first).toEqual({ page: 1, pageSize: 20, pageCount: 2, total: 25 });
    expect(data.map(({ title }) => Number(title))).toEqual(range(5, 24).reverse());
    expect(await person.do('chat:list', { page: 2, pageSize: 10 })).toMatchObject({
      page: 2,
      pageSize: 10,
      pageCount: 3,
    });
    expect(await person.do('chat:list', { page: 9 })).toMatchObject({ data: [], total: 25 });
    expect(await person.do('chat:list', { pageSize: 100 })).toMatchObject({ pageCount: 1 });
    for (const bad of [
      { pageSize: 0 },
      { pageSize: 101 },
      { pageSize: -1 },
      { pageSize: '5' },
      { page: 0 },
      { page: 1.5 },
      { page: -3 },
    ]) {
      expect(await person.refused('chat:list', bad), JSON.stringify(bad)).toMatchObject({
        code: 'bad_request',
        details: { path: Object.keys(bad)[0] },
      });
    }
    const chatId = await person.createChat();
    for (const limit of [0, 201, -1, '5', 1.5]) {
      for (const name of ['turn:list', 'message:list'])
        expect(await person.refused(name, { chatId, limit })).toMatchObject({ code: 'bad_request' });
      expect(await person.refused('chat:subscribe', { chatId, messageLimit: limit })).toMatchObject({
        code: 'bad_request',
      });
    }
  });
});

describe('CMD-2: keywords', () => {
  test('C29: search is a literal part of the title, whatever its case, in every script', async () => {
    const { url } = await startServer();
    const person = await new Person(url).open();
    const titles = [
      'Червоний дім',
      'ÉCOLE',
      'e\u0301cole zwei',
      'Straße',
      'ΣΊΣΥΦΟΣ',
      'İstanbul',
      '100% sure',
      'a_b',
      'back\\slash',
      'Ｆｕｌｌ width',
      '日本語のチャット',
      "it's; DROP TABLE",
      'axb',
      '🙂 smile',
    ];
    for (const title of titles) await person.createChat({ title });
    const find = async (keywords: string) =>
      (await person.do<{ data: { title: string }[] }>('chat:list', { keywords, pageSize: 100 })).data
        .map(({ title }) => title)
        .sort();
    const expected: [string, string[]][] = [
      ['червоний', ['Червоний дім']],
      ['ЧЕРВОНИЙ ДІМ', ['Червоний дім']],
      ['école', ['ÉCOLE', 'e\u0301cole zwei']],
      ['E\u0301COLE', ['ÉCOLE', 'e\u0301cole zwei']],
      ['straße', ['Straße']],
      ['STRASSE', ['Straße']],
      ['σίσυφος', ['ΣΊΣΥΦΟΣ']],
      ['σίσυφοσ', ['ΣΊΣΥΦΟΣ']],
      ['istanbul', ['İstanbul']],
      ['%', ['100% sure']],
      ['_', ['a_b']],
      ['\\', ['back\\slash']],
      ['full', ['Ｆｕｌｌ width']],
      ['本語の', ['日本語のチャット']],
      ["'; drop", []],
      ["it's; drop", ["it's; DROP TABLE"]],
      ['🙂', ['🙂 smile']],
      ['nothing of this', []],
    ];
    for (const [keywords, found] of expected) expect.soft(await find(keywords), keywords).toEqual(found.sort());
    expect(await find('')).toHaveLength(titles.length);
    expect(await person.refused('chat:list', { keywords: 'x'.repeat(501) })).toMatchObject({ code: 'bad_request' });
  });
});

describe('CMD-4: edits pass through the single writer', () => {
  test('CMD-4: an open message is not edited; a closed one is, while the turn runs and after it, for everybody', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const open = await run.send('a');
    const done = await run.send('b');
    await run.push({ op: 'end', messageId: done });
    expect(await person.refused('message:update', { messageId: open, props: { content: 'no' } })).toMatchObject({
      code: 'conflict',
    });
    const { message } = await person.do('message:update', {
      messageId: done,
      props: { content: 'edited' },
      type: 'note',
      metadata: { by: 'me' },
    });
    expect(message).toMatchObject({
      messageId: done,
      sequence: 3,
      type: 'note',
      props: { content: 'edited' },
      metadata: { by: 'me' },
      state: 'closed',
    });
    expect(
      await run.agent.refused('turn:push', {
        ...run.frame,
        seq: run.seq + 1,
        ops: [{ op: 'append', messageId: done, text: 'x' }],
      }),
    ).toMatchObject({ code: 'bad_request' });
    const input = here.view.messages[0]!.messageId;
    await person.do('message:update', { messageId: input, metadata: { stars: 5 } });
    await run.append(open, '!');
    await run.close();
    await person.ended(chatId, run.requestId);
    await person.do('message:update', { messageId: open, props: { content: 'later' } });
    await until(() => here.view.messages.some(({ props }) => props['content'] === 'later'), 'the edit');
    const all = await expectConsistent(here.url, chatId, [person]);
    expect(all.map(({ props, metadata }) => [props['content'], metadata])).toEqual([
      ['go', { stars: 5 }],
      ['later', null],
      ['edited', { by: 'me' }],
    ]);
    expect(await person.refused('message:update', { messageId: open })).toMatchObject({ code: 'bad_request' });
    expect(await person.refused('message:update', { messageId: 'unknown', props: {} })).toMatchObject({
      code: 'not_found',
    });
  });

  test('CMD-4: an open message that is deleted is gone; what the assistant does to it later is accepted and dropped', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const gone = await run.send('doomed');
    const stays = await run.send('stays');
    const input = here.view.messages[0]!.messageId;
    expect(
      await person.do('message:delete', {
        chatId,
        messageIds: [stays, 'unknown', gone, input, gone].filter((id) => id !== stays),
      }),
    ).toEqual({ messageIds: [gone, input] });
    await run.push(
      { op: 'append', messageId: gone, text: ' more' },
      { op: 'replace', messageId: gone, props: { content: 'x' } },
      { op: 'set', messageId: gone, path: 'a', value: 1 },
      { op: 'merge', messageId: gone, value: { b: 2 } },
      { op: 'append', messageId: stays, text: '!' },
      { op: 'end', messageId: gone },
    );
    expect(
      await run.agent.refused('turn:push', {
        ...run.frame,
        seq: run.seq + 1,
        ops: [{ op: 'send', messageId: gone, type: 'text', props: {} }],
      }),
    ).toMatchObject({ code: 'bad_request' });
    await run.close();
    await person.ended(chatId, run.requestId);
    expect((await expectConsistent(here.url, chatId, [person])).map(({ props }) => props['content'])).toEqual([
      'stays!',
    ]);
    const heard = here.view.events.filter((event) => 'messageId' in event && event.messageId === gone);
    expect(heard).toEqual([]);
    expect(await person.do('message:delete', { chatId, messageIds: [gone, input] })).toEqual({ messageIds: [] });
    expect(await person.refused('message:update', { messageId: gone, props: {} })).toMatchObject({ code: 'not_found' });
  });

  test('CMD-4: messages of another chat are not deleted by naming them', async () => {
    const { person, chatId, view, ...here } = await scene();
    await here.turn();
    const other = await person.createChat();
    expect(
      await person.do('message:delete', { chatId: other, messageIds: view.messages.map(({ messageId }) => messageId) }),
    ).toEqual({ messageIds: [] });
    expect((await person.do('message:list', { chatId })).messages).toHaveLength(1);
  });
});

describe('TRN-2: refusals', () => {
  test('C20: a start that is refused leaves nothing behind, in any view', async () => {
    const here = await scene({ env: { MAX_QUEUED_TURNS: '1', MAX_FRAME_BYTES: '4096', MAX_MESSAGE_BYTES: '3000' } });
    const { url, person, chatId } = here;
    const stranger = await new Person(url, { userId: 'stranger' }).open();
    const reader = await new Person(url, { userId: 'reader' }).open();
    await person.do('chat:update', { chatId, public: true });
    const run = await here.turn();
    await person.start(chatId, 'queued');
    await until(() => here.view.messages.length === 2, 'both inputs');
    const before = here.view.position;
    const start = (who: Person, more: object) => who.refused('turn:start', { chatId, input: 'never', ...more });
    const refusals: [Person, object, string][] = [
      [person, { onBusy: 'reject' }, 'turn_busy'],
      [person, {}, 'queue_full'],
      [person, { input: 'x'.repeat(3500) }, 'payload_too_large'],
      [person, { input: 'x'.repeat(5000) }, 'payload_too_large'],
      [person, { requestId: run.requestId }, 'idempotency_conflict'],
      [person, { input: { type: 'event', props: {} } }, 'bad_request'],
      [person, { regenerate: run.requestId }, 'bad_request'],
      [reader, {}, 'forbidden'],
      [stranger, { chatId: uid('c') }, 'not_found'],
    ];
    for (const [who, more, code] of refusals) expect(await start(who, more)).toMatchObject({ code });
    expect((await start(person, { onBusy: 'reject' })).details).toEqual({ activeRequestId: run.requestId });
    expect(await person.do('turn:list', { chatId })).toMatchObject({
      turns: [{ status: 'queued' }, { requestId: run.requestId }],
      hasMore: false,
    });
    expect((await person.do('message:list', { chatId })).position).toEqual(before);
    expect(here.view.position).toEqual(before);
    expect((await expectConsistent(url, chatId, [person])).map(({ props }) => props['content'])).toEqual([
      'go',
      'queued',
    ]);
  });
});
