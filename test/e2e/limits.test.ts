import { describe, expect, test } from 'vitest';
import type { Json, Message, OpInput } from '../../protocol/index.js';
import { Agent, type Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { startServer } from '../harness/server.js';
import { isSpread } from '../harness/spread.js';
import { scene } from './scene.js';

const MiB = 1024 * 1024;
const x = (length: number): string => 'x'.repeat(length);
const tooLarge = (limit: string, max: number, more: Record<string, Json> = {}) => ({
  code: 'payload_too_large',
  retryable: false,
  details: { limit, max, ...more },
});

/** The refusal of a push that takes no seq. */
const refusedPush = (run: Run, ...ops: OpInput[]) =>
  run.agent.refused('turn:push', { ...run.frame, seq: run.seq + 1, ops });

/** A Socket.IO frame of exactly so many bytes, the 4 of Engine.IO not counted. */
function frameOf(bytes: number, head: string, tail: string): string {
  return `4${head}${x(bytes - head.length - tail.length)}${tail}`;
}

describe('DAT-3: limits', () => {
  test('DAT-3: hello announces what is set', async () => {
    const standard = await new Person((await startServer()).url).open();
    expect(standard.hello?.limits).toEqual({
      maxFrameBytes: MiB,
      maxMessageBytes: 4 * MiB,
      maxTurnBytes: 32 * MiB,
      maxMessagesPerTurn: 10_000,
      maxInputMessages: 100,
      maxPageBytes: MiB,
      maxQueuedTurns: 16,
    });
    const env = {
      MAX_FRAME_BYTES: '2048',
      MAX_MESSAGE_BYTES: '1025',
      MAX_TURN_BYTES: '1026',
      MAX_PAGE_BYTES: '1027',
      MAX_QUEUED_TURNS: '3',
    };
    const { url } = await startServer({ env });
    const limits = {
      maxFrameBytes: 2048,
      maxMessageBytes: 1025,
      maxTurnBytes: 1026,
      maxPageBytes: 1027,
      maxQueuedTurns: 3,
    };
    expect((await new Person(url).open()).hello?.limits).toMatchObject(limits);
    expect((await new Agent(url, ['bot']).open()).hello?.limits).toMatchObject(limits);
  });

  test('DAT-3: a frame is served up to maxFrameBytes, answered up to twice that, and beyond ends that connection alone', async () => {
    const { url, person, chatId } = await scene({ env: { MAX_FRAME_BYTES: '4096' } });
    const raw = await RawSocket.open(url);
    const update = (bytes: number, id: number) =>
      raw.send(frameOf(bytes, `2${id}["chat:update",{"chatId":"${chatId}","metadata":{"x":"`, '"}}]'));
    update(4096, 1);
    update(4097, 2);
    update(8190, 3);
    expect(await raw.answer(1)).toMatchObject({ ok: true });
    for (const id of [2, 3])
      expect(await raw.answer(id)).toMatchObject({ ok: false, error: tooLarge('maxFrameBytes', 4096) });
    expect((await person.do('chat:get', { chatId })).chat.metadata?.['x']).toHaveLength(
      4096 - `21["chat:update",{"chatId":"${chatId}","metadata":{"x":""}}]`.length,
    );
    update(8300, 4);
    await raw.gone();
    expect(await person.ask('chat:get', { chatId })).toMatchObject({ ok: true });
  });

  test('DAT-3: bytes are counted, not characters; attachments count too', async () => {
    const { url, chatId } = await scene({ env: { MAX_FRAME_BYTES: '4096' } });
    const raw = await RawSocket.open(url);
    expect(await raw.ask('chat:update', `{"chatId":"${chatId}","metadata":{"x":"${'é'.repeat(2100)}"}}`)).toMatchObject(
      { ok: false, error: tooLarge('maxFrameBytes', 4096) },
    );
    raw.send(`451-90["chat:update",{"chatId":"${chatId}","metadata":{"x":{"_placeholder":true,"num":0}}}]`);
    raw.send(Buffer.alloc(64));
    expect(await raw.answer(90)).toMatchObject({ ok: false, error: { code: 'bad_request' } });
    raw.send(`451-91["chat:update",{"chatId":"${chatId}","metadata":{"x":{"_placeholder":true,"num":0}}}]`);
    raw.send(Buffer.alloc(5000));
    expect(await raw.answer(91)).toMatchObject({ ok: false, error: tooLarge('maxFrameBytes', 4096) });
    raw.send(
      `452-92["chat:update",{"chatId":"${chatId}","metadata":{"x":[{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]}}]`,
    );
    raw.send(Buffer.alloc(4000));
    raw.send(Buffer.alloc(100));
    expect(await raw.answer(92)).toMatchObject({ ok: false, error: tooLarge('maxFrameBytes', 4096) });
    expect(await raw.ask('chat:get', `{"chatId":"${chatId}"}`)).toMatchObject({ ok: true });
  });

  test('DAT-3: a frame of an agent that is too large takes no seq; the next push does', async () => {
    const here = await scene({ env: { MAX_FRAME_BYTES: '4096' } });
    const run = await here.turn();
    const messageId = await run.send('');
    expect(await refusedPush(run, { op: 'append', messageId, text: x(5000) })).toMatchObject(
      tooLarge('maxFrameBytes', 4096),
    );
    await run.append(messageId, x(2000));
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(x(2000));
  });

  test('DAT-3: one message', async () => {
    const here = await scene({ env: { MAX_MESSAGE_BYTES: '10000' } });
    const { person, chatId, url } = here;
    const run = await here.turn();
    const messageId = await run.send(x(5000));
    const refusal = tooLarge('maxMessageBytes', 10_000, { index: 1 });
    const signal: OpInput = { op: 'signal', name: 'n', data: null };
    const big = x(10_000);
    const ops: OpInput[] = [
      { op: 'send', type: 'text', props: { content: big } },
      { op: 'send', type: 'text', props: {}, metadata: { note: big } },
      { op: 'append', messageId, text: x(5000) },
      { op: 'append', messageId, text: '\n'.repeat(2500) },
      { op: 'append', messageId, text: x(5000), path: 'other' },
      { op: 'replace', messageId, props: { content: big } },
      { op: 'merge', messageId, value: { other: x(5000) } },
      { op: 'set', messageId, path: 'other', value: x(5000) },
    ];
    for (const op of ops)
      expect(await refusedPush(run, signal, op), JSON.stringify(op).slice(0, 80)).toMatchObject(refusal);
    // What is overwritten counts no more.
    for (let round = 0; round < 5; round++)
      await run.push(
        { op: 'set', messageId, path: 'content', value: x(9000) },
        { op: 'merge', messageId, value: { content: x(5000) } },
      );
    await run.append(messageId, x(4000));
    await run.push({ op: 'end', messageId });
    const edit = { messageId, props: { content: big } };
    expect(await person.refused('message:update', edit)).toMatchObject(tooLarge('maxMessageBytes', 10_000));
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(await person.refused('message:update', edit)).toMatchObject(tooLarge('maxMessageBytes', 10_000));
    expect(await person.refused('message:update', { messageId, metadata: { note: x(2000) } })).toMatchObject(
      tooLarge('maxMessageBytes', 10_000),
    );
    for (const input of [big, { type: 'text', props: {}, metadata: { note: big } }, ['fits', big]]) {
      expect(await person.refused('turn:start', { chatId, input })).toMatchObject(tooLarge('maxMessageBytes', 10_000));
    }
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', x(9000)]);
  });

  test('DAT-3: one turn, counting all that its messages and steps hold', async () => {
    const here = await scene({ env: { MAX_TURN_BYTES: '10000' } });
    const run = await here.turn();
    const messageId = await run.send(x(4000));
    const [first, second] = [uid('s'), uid('s')];
    await run.push({ op: 'step.start', stepId: first, type: 'llm', input: x(2000) });
    const refusal = tooLarge('maxTurnBytes', 10_000, { index: 0 });
    const big = x(4000);
    const ops: OpInput[] = [
      { op: 'send', type: 'text', props: { content: big } },
      { op: 'send', type: 'text', props: {}, metadata: { note: big } },
      { op: 'append', messageId, text: big },
      { op: 'replace', messageId, props: { content: x(8000) } },
      { op: 'set', messageId, path: 'other', value: big },
      { op: 'step.start', stepId: second, type: 'tool', input: big },
      { op: 'step.start', stepId: second, type: 'tool', metadata: { note: big } },
      { op: 'step.end', stepId: first, status: 'completed', output: big },
      { op: 'step.end', stepId: first, status: 'failed', error: big },
      { op: 'space.set', key: 'k', value: big },
    ];
    for (const op of ops) expect(await refusedPush(run, op), JSON.stringify(op).slice(0, 80)).toMatchObject(refusal);
    expect(
      await refusedPush(
        run,
        { op: 'append', messageId, text: x(1000) },
        ...Array<OpInput>(3).fill({ op: 'append', messageId, text: x(1000) }),
      ),
    ).toMatchObject({ code: 'payload_too_large', details: { index: 3 } });
    await run.append(messageId, x(1000));
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect((await expectConsistent(here.url, here.chatId, [here.person])).at(-1)?.props).toEqual({ content: x(5000) });
  });

  test('DAT-3: 10,000 messages of one turn, all stored', async () => {
    const here = await scene();
    const run = await here.turn();
    const one: OpInput = { op: 'send', type: 't', props: {} };
    for (let pushed = 0; pushed < 10_000; pushed += 1000) await run.push(...Array<OpInput>(1000).fill(one));
    expect(await refusedPush(run, one)).toMatchObject(tooLarge('maxMessagesPerTurn', 10_000, { index: 0 }));
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(await here.person.do('message:list', { chatId: here.chatId, after: 9999 })).toMatchObject({
      messages: [{ sequence: 10_000 }, { sequence: 10_001, state: 'closed' }],
      hasMore: false,
    });
  });

  test('DAT-3: 100 input messages', async () => {
    const { person, chatId, ...here } = await scene();
    const inputs = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
    expect(await person.refused('turn:start', { chatId, input: inputs(101) })).toMatchObject(
      tooLarge('maxInputMessages', 100),
    );
    expect(await person.refused('turn:start', { chatId, input: [] })).toMatchObject({ code: 'bad_request' });
    const { messages } = await person.start(chatId, inputs(100));
    expect(messages.map(({ props }) => props['content'])).toEqual(inputs(100));
    const run = await here.turn({ onBusy: 'parallel' });
    run.seq++;
    expect(
      await here.agent.refused('turn:delegate', { ...run.frame, seq: run.seq, assistantId: 'bot', input: inputs(101) }),
    ).toMatchObject(tooLarge('maxInputMessages', 100));
  });
});

describe('DAT-3: pages are cut by bytes', () => {
  const bytesOf = (messages: readonly Message[]) => Buffer.byteLength(JSON.stringify(messages));

  test('DAT-3: a page and a snapshot hold at most maxPageBytes, nearest first, at least one message, and open ones always', async () => {
    const here = await scene({ env: { MAX_PAGE_BYTES: '10000' } });
    const { person, chatId, url } = here;
    const run = await here.turn();
    for (let round = 0; round < 10; round++) await run.send(x(3000));
    await run.send(x(12_000));
    await run.close();
    await person.ended(chatId, run.requestId);
    const sequences = async (args: Record<string, Json>) => {
      const { messages, hasMore } = await person.do<{ messages: Message[]; hasMore: boolean }>('message:list', {
        chatId,
        ...args,
      });
      if (messages.length > 1) expect(bytesOf(messages)).toBeLessThanOrEqual(10_000);
      return [messages.map(({ sequence }) => sequence), hasMore];
    };
    expect(await sequences({})).toEqual([[12], true]);
    expect(await sequences({ before: 12 })).toEqual([[10, 11], true]);
    expect(await sequences({ after: 1 })).toEqual([[2, 3], true]);
    expect(await sequences({ after: 10 })).toEqual([[11], true]);
    expect(await sequences({ after: 11 })).toEqual([[12], false]);
    expect(await sequences({ offset: 0 })).toEqual([[1, 2, 3], true]);
    const late = await new Person(url).open();
    const snapshot = await late.do('chat:subscribe', { chatId });
    expect(snapshot.messages?.map(({ sequence }) => sequence)).toEqual([12]);
    expect(snapshot.hasMore).toBe(true);
    const next = await here.turn();
    const open = await next.send(x(4000));
    for (let round = 0; round < 4; round++)
      await next.push({ op: 'send', messageId: uid('m'), type: 'text', props: { content: x(3000) } });
    const again = await (await new Person(url).open()).do('chat:subscribe', { chatId, messageLimit: 2 });
    expect(again.messages?.map(({ sequence }) => sequence)).toEqual([14, 15, 16, 17, 18]);
    expect(again.messages?.[0]).toMatchObject({ messageId: open, state: 'open' });
    expect(again.hasMore).toBe(true);
  });
});

describe('C10: what is larger than the transport takes', () => {
  const texts = (sizes: number[]) => sizes.map((size) => x(size));

  test.each([
    ['websocket', {}],
    // CON-3: it needs sticky routing.
    ...(isSpread ? [] : [['polling', { ALLOW_POLLING: '1' }] as const]),
  ] as const)(
    'C10: by %s: a success, or an error that says why; the connection stays, what follows is served',
    async (transport, env) => {
      const { url } = await startServer({ env });
      const person = await new Person(url).open({}, [transport]);
      const chatId = await person.createChat();
      const acks = await Promise.all([
        ...texts([0.9 * MiB, 1.1 * MiB, 1.9 * MiB]).map((content) =>
          person.ask('chat:update', { chatId, metadata: { content } }),
        ),
        person.ask('chat:get', { chatId }),
      ]);
      expect(acks.map((ack) => (ack.ok ? 'ok' : ack.error.code))).toEqual([
        'ok',
        'payload_too_large',
        'payload_too_large',
        'ok',
      ]);
      expect(person.disconnectReason).toBeNull();
    },
  );

  test("C10: what is far too large ends its own connection at once and nobody else's", async () => {
    const { url, person, chatId } = await scene();
    for (const size of [5 * MiB, 50 * MiB]) {
      const raw = await RawSocket.open(url);
      raw.send(`420["chat:update",{"chatId":"${chatId}","metadata":{"x":"${x(size)}"}}]`);
      expect(await raw.gone()).toBe(1009);
    }
    expect(await person.ask('chat:get', { chatId })).toMatchObject({ ok: true });
    const body = JSON.stringify({ metadata: { x: x(5 * MiB) } });
    const answer = await fetch(`${url}/v1/chats/${chatId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: tooLarge('maxFrameBytes', MiB) }]);
  });

  test('C10: one large text of an agent: sent whole up to a frame, in pieces up to a message', async () => {
    const here = await scene();
    const run = await here.turn();
    expect(await refusedPush(run, { op: 'send', type: 'text', props: { content: x(1.1 * MiB) } })).toMatchObject(
      tooLarge('maxFrameBytes', MiB),
    );
    const messageId = await run.send(x(0.9 * MiB));
    for (let piece = 0; piece < 3; piece++) await run.append(messageId, x(0.9 * MiB));
    expect(await refusedPush(run, { op: 'append', messageId, text: x(0.9 * MiB) })).toMatchObject(
      tooLarge('maxMessageBytes', 4 * MiB),
    );
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(here.view.text(run.requestId)).toHaveLength(Math.trunc(0.9 * MiB) * 4);
  });
});
