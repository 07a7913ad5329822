import { describe, expect, test } from 'vitest';
import { expectConsistent } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { scene } from './scene.js';

const turnRows = (dataDir: string) => storeBeside(dataDir).rows('SELECT request_id FROM agent_turn');

describe('TRN-1: a start is idempotent by requestId', () => {
  test('C06: the same start five times in one tick, over two connections: one turn, one input, one run', async () => {
    const { url, person, agent, chatId } = await scene();
    const other = await new Person(url).open();
    const requestId = uid('r');
    const answers = await Promise.all(
      [person, other, person, other, person].map((from) => from.start(chatId, 'once', { requestId })),
    );
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(new Set(answers.map(({ messages }) => messages[0]?.messageId)).size).toBe(1);
    const run = await agent.run(requestId);
    await run.close();
    await person.ended(chatId, requestId);
    expect(agent.runs).toHaveLength(1);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ role }) => role)).toEqual(['user']);
  });

  test('repeated after its end it tells how the turn stands now; nothing starts and nothing is broadcast', async () => {
    const { person, agent, chatId, view, turn } = await scene();
    const run = await turn();
    const { requestId } = run;
    await run.close();
    await person.ended(chatId, requestId);
    const { offset } = view.position ?? { offset: 0 };
    const again = await person.start(chatId, 'go', { requestId });
    expect(again).toMatchObject({ duplicate: true, turn: { status: 'completed', attempt: 1 } });
    expect(again.messages.map(({ props }) => props)).toEqual([{ content: 'go' }]);
    await person.do('chat:get', { chatId });
    expect(view.position?.offset).toBe(offset);
    expect(agent.runs).toHaveLength(1);
  });

  test('two at once that create their chat: the same turn for both', async () => {
    const { url, dataDir } = await startServer();
    const people = await Promise.all([1, 2, 3].map(() => new Person(url).open()));
    for (let round = 1; round <= 10; round++) {
      const chatId = uid('c');
      const requestId = uid('r');
      const answers = await Promise.all(
        people.map((person) => person.start(chatId, 'hi', { requestId, createChat: true, assistantId: 'echo' })),
      );
      expect(answers.map(({ duplicate }) => duplicate).sort()).toEqual([false, true, true]);
      expect(await turnRows(dataDir)).toHaveLength(round);
    }
  });

  test('two different starts at once that create one chat: both are answered in it', async () => {
    const { url } = await startServer();
    const people = await Promise.all([1, 2].map(() => new Person(url).open()));
    const chatId = uid('c');
    const [a, b] = await Promise.all(
      people.map((person) =>
        person.start(chatId, 'hi', { createChat: true, assistantId: 'echo', metadata: { delayMs: 0 } }),
      ),
    );
    expect(a?.turn.requestId).not.toBe(b?.turn.requestId);
    expect([a?.duplicate, b?.duplicate]).toEqual([false, false]);
  });

  test.each([
    ['another input', { input: 'else' }],
    ['other metadata', { metadata: { a: 2 } }],
    ['another onBusy', { onBusy: 'reject' }],
    ['another assistant', { assistantId: 'echo' }],
    ['onBusy spelt out that was left out', { onBusy: 'enqueue' }],
  ])('with %s it is idempotency_conflict', async (_what, change) => {
    const { person, chatId, dataDir } = await quiet();
    const requestId = uid('r');
    await person.start(chatId, 'go', { requestId, metadata: { a: 1, b: [1, { c: null, d: 'x' }] } });
    const error = await person.refused('turn:start', {
      chatId,
      input: 'go',
      requestId,
      metadata: { a: 1, b: [1, { c: null, d: 'x' }] },
      ...change,
    });
    expect(error.code).toBe('idempotency_conflict');
    expect(await turnRows(dataDir)).toHaveLength(1);
  });

  test('the body is compared as canonical JSON after DAT-1: order of keys and broken text make no difference', async () => {
    const { person, chatId } = await quiet();
    const requestId = uid('r');
    await person.start(chatId, [{ type: 'text', props: { content: 'a\ud800', more: 1 } }], {
      requestId,
      metadata: { a: 1, b: { x: 1, y: 2 } },
    });
    const again = await person.do('turn:start', {
      metadata: { b: { y: 2, x: 1 }, a: 1 },
      requestId,
      input: [{ props: { more: 1, content: 'a\ufffd' }, type: 'text' }],
      chatId,
    });
    expect(again.duplicate).toBe(true);
  });

  test('another caller, another chat, another tenant: idempotency_conflict, and no word more', async () => {
    const { url, person, chatId } = await quiet();
    const requestId = uid('r');
    const elsewhere = await person.createChat();
    await person.start(chatId, 'go', { requestId });
    expect((await person.refused('turn:start', { chatId: elsewhere, input: 'go', requestId })).code).toBe(
      'idempotency_conflict',
    );
    const stranger = await new Person(url, { userId: 'eve', tenantId: 'other' }).open();
    const theirs = await stranger.createChat();
    const error = await stranger.refused('turn:start', { chatId: theirs, input: 'go', requestId });
    expect(error).toMatchObject({ code: 'idempotency_conflict' });
    expect(JSON.stringify(error)).not.toContain(chatId);
    const mate = await new Person(url, { userId: 'mate', teamId: 't' }).open();
    const owner = await new Person(url, { userId: 'owner', teamId: 't' }).open();
    const shared = await owner.createChat({ share: 'team' });
    const theirId = uid('r');
    await owner.start(shared, 'go', { requestId: theirId });
    expect((await mate.refused('turn:start', { chatId: shared, input: 'go', requestId: theirId })).code).toBe(
      'idempotency_conflict',
    );
  });

  test('the same new requestId in two chats at once: one starts, the other is idempotency_conflict', async () => {
    const { person, chatId, url } = await quiet();
    const other = await new Person(url).open();
    const elsewhere = await other.createChat();
    for (let round = 0; round < 20; round++) {
      const requestId = uid('r');
      const acks = await Promise.all([
        person.ask('turn:start', { chatId, input: 'x', requestId, metadata: { delayMs: 0 } }),
        other.ask('turn:start', { chatId: elsewhere, input: 'x', requestId, metadata: { delayMs: 0 } }),
      ]);
      const codes = acks.map((ack) => (ack.ok ? 'ok' : ack.error.code)).sort();
      expect(codes).toEqual(['idempotency_conflict', 'ok']);
    }
  });

  test('C06: still the same turn after a restart of the server', async () => {
    const first = await startServer();
    const before = await new Person(first.url).open();
    const chatId = await before.createChat();
    await before.follow(chatId);
    const requestId = uid('r');
    const started = await before.start(chatId, 'go', { requestId, metadata: { delayMs: 0 } });
    await before.ended(chatId, requestId);
    await first.close();
    const second = await startServer({ dataDir: first.dataDir });
    const after = await new Person(second.url).open();
    const again = await after.start(chatId, 'go', { requestId, metadata: { delayMs: 0 } });
    expect(again).toMatchObject({ duplicate: true, turn: { status: 'completed' }, messages: started.messages });
    const conflict = await after.refused('turn:start', { chatId, input: 'other', requestId, metadata: { delayMs: 0 } });
    expect(conflict.code).toBe('idempotency_conflict');
    expect(await expectConsistent(second.url, chatId)).toHaveLength(2);
  });

  test('of a chat that was deleted: the id stays taken', async () => {
    const { person, chatId } = await quiet();
    const requestId = uid('r');
    await person.start(chatId, 'go', { requestId });
    await person.do('chat:delete', { chatId });
    const elsewhere = await person.createChat();
    expect((await person.refused('turn:start', { chatId: elsewhere, input: 'go', requestId })).code).toBe(
      'idempotency_conflict',
    );
  });
});

describe('TRN-2: the ack means that the input is stored', () => {
  test('when the ack is there, so are the rows', async () => {
    const { person, chatId, dataDir } = await quiet();
    const { turn, messages } = await person.start(
      chatId,
      ['one', 'two'].map((content) => ({ type: 'text', props: { content } })),
    );
    expect(
      await storeBeside(dataDir).rows(
        'SELECT message_id FROM agent_message WHERE request_id = ? AND role = ? ORDER BY sequence',
        turn.requestId,
        'user',
      ),
    ).toEqual(messages.map(({ messageId }) => ({ message_id: messageId })));
  });

  test('a start that the store refuses stores and broadcasts nothing, and can be sent again', async () => {
    const { url, server, person, chatId, view, agent } = await scene({ env: { COMMIT_RETRY_MS: '100' } });
    const lock = await storeBeside(server.dataDir).lock();
    const requestId = uid('r');
    const { offset } = view.position ?? { offset: 0 };
    const error = await person.refused('turn:start', { chatId, input: 'go', requestId });
    expect(error).toMatchObject({ code: 'storage_unavailable', retryable: true });
    expect((await person.refused('turn:get', { requestId })).code).toBe('not_found');
    await lock.release();
    await person.do('chat:get', { chatId });
    expect(view.position?.offset).toBe(offset);
    expect(await expectConsistent(url, chatId)).toHaveLength(0);
    expect(await person.start(chatId, 'go', { requestId })).toMatchObject({ duplicate: false });
    await (await agent.run(requestId)).close();
  });

  test('C20: a refused start leaves no message in any view', async () => {
    const { url, person, chatId, turn } = await scene();
    const run = await turn();
    expect((await person.refused('turn:start', { chatId, input: 'no', onBusy: 'reject' })).code).toBe('turn_busy');
    expect((await person.refused('turn:start', { chatId, input: { type: 'text' } })).code).toBe('bad_request');
    await run.close();
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history).toHaveLength(1);
  });

  test('DAT-4: inputs that are stored while another turn sends messages have one sequence everywhere', async () => {
    const { url, person, chatId, turn } = await scene();
    const run = await turn();
    let isOver = false;
    const sending = (async () => {
      while (!isOver) await Promise.all([run.send('x'), run.send('y')]);
    })();
    const starts = await Promise.all(Array.from({ length: 16 }, (_, index) => person.start(chatId, `q${index}`)));
    isOver = true;
    await sending;
    const history = await expectConsistent(url, chatId, [person]);
    for (const { messages } of starts) {
      expect(history.find(({ messageId }) => messageId === messages[0]?.messageId)?.sequence).toBe(
        messages[0]?.sequence,
      );
    }
    expect(new Set(history.map(({ sequence }) => sequence)).size).toBe(history.length);
  });
});

/** A person with a chat that echo answers. */
async function quiet() {
  const { url, dataDir } = await startServer();
  const person = await new Person(url).open();
  return { url, dataDir, person, chatId: await person.createChat() };
}
