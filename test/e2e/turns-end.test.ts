import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { ChatEvent, Result } from '../../protocol/index.js';
import type { Run } from '../harness/agent.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { metric } from '../harness/metric.js';
import { storeBeside } from '../harness/store-beside.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { scene, type Scene } from './scene.js';

const writes = (url: string) => metric(url, 'turnstream_store_transactions_total{kind="write"}');

/** Fails where an attempt says anything after its end, or ends twice. */
function expectGrammar(events: readonly ChatEvent[]): void {
  const over = new Set<string>();
  for (const event of events) {
    if (event.type === 'turn.ended') {
      const attempt = `${event.turn.requestId}.${event.turn.attempt}`;
      expect(over.has(attempt), 'TRN-6: one end per attempt').toBe(false);
      over.add(attempt);
    } else if (event.type === 'turn.queued') {
      expect(over.has(`${event.turn.requestId}.${event.turn.attempt}`)).toBe(false);
    } else if (event.type.startsWith('message.') && event.requestId !== undefined) {
      expect(over.has(`${event.requestId}.1`), `TRN-6: ${event.type} after the end`).toBe(false);
    }
  }
}

describe('TRN-6: the end of an attempt', () => {
  const waysToEnd: [string, (here: Scene, run: Run) => Promise<unknown>, Record<string, unknown>][] = [
    ['completed', (_here, run) => run.close('completed'), { status: 'completed', stopReason: null, error: null }],
    [
      'failed',
      (_here, run) => run.close('failed', { error: { code: 'oops', message: 'It broke.' } }),
      { status: 'failed', stopReason: 'error', error: { code: 'oops', message: 'It broke.' } },
    ],
    [
      'interrupted by its agent',
      (_here, run) => run.close('interrupted'),
      { status: 'interrupted', stopReason: 'stopped' },
    ],
    [
      'stopped',
      ({ person }, run) => person.do('turn:stop', { requestId: run.requestId }),
      { status: 'interrupted', stopReason: 'stopped' },
    ],
    [
      'superseded',
      ({ person, chatId }) => person.start(chatId, 'x', { onBusy: 'interrupt' }),
      { status: 'interrupted', stopReason: 'superseded' },
    ],
    ['lost with its agent', async ({ agent }) => agent.drop(), { status: 'interrupted', stopReason: 'agent_lost' }],
  ];
  test.each(waysToEnd)(
    '%s: open messages are closed, all text is stored, then one turn.ended and nothing after it',
    async (_way, end, turn) => {
      const here = await scene({ env: { AGENT_GRACE_MS: '50', COALESCE_MS: '1000' } });
      const run = await here.turn();
      const left = await run.send('a');
      const closed = await run.send('b');
      await run.push(
        { op: 'append', messageId: left, text: ' and more' },
        { op: 'append', messageId: left, text: ' held back' },
        { op: 'end', messageId: closed },
      );
      void end(here, run);
      expect((await here.person.ended(here.chatId, run.requestId)).turn).toMatchObject(turn);
      const stored = await storeBeside(here.server.dataDir).rows(
        'SELECT props, state FROM agent_message WHERE request_id = ? AND role = ? ORDER BY sequence',
        run.requestId,
        'assistant',
      );
      expect(stored).toEqual([
        { props: { content: 'a and more held back' }, state: 'closed' },
        { props: { content: 'b' }, state: 'closed' },
      ]);
      const late = await run.agent
        .ask('turn:push', { ...run.frame, seq: run.seq + 1, ops: [{ op: 'send', type: 'text', props: {} }] }, 500)
        .catch(() => null);
      expect(late?.ok ?? false).toBe(false);
      const history = await expectConsistent(here.url, here.chatId, [here.person]);
      expect(history.every(({ state }) => state === 'closed')).toBe(true);
      expectGrammar(here.view.events);
      const last = here.view.events.findLast((event) => event.requestId === run.requestId);
      expect(last?.type).toBe('turn.ended');
    },
  );

  test('C57: assistants that throw at once, throw late, send nothing, return something: one terminal event each', async () => {
    const assistants = [
      defineAssistant({ assistantId: 'throws', run: () => Promise.reject(new Error('at once')) }),
      defineAssistant({
        assistantId: 'late',
        async run(ctx) {
          await ctx.send('abc');
          throw new Error('later');
        },
      }),
      defineAssistant({ assistantId: 'silent', run: () => undefined }),
      defineAssistant({ assistantId: 'odd', run: () => Promise.reject(null) }), // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- anything can be thrown
    ];
    const server = await startServer({ assistants });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat();
    const view = await person.follow(chatId);
    for (const [assistantId, status] of [
      ['throws', 'failed'],
      ['late', 'failed'],
      ['silent', 'completed'],
      ['odd', 'failed'],
    ]) {
      const { turn } = await person.start(chatId, 'go', { assistantId });
      const end = await person.ended(chatId, turn.requestId);
      expect(end.turn).toMatchObject({ status, stopReason: status === 'failed' ? 'error' : null });
      const types = view.events.filter((event) => event.requestId === turn.requestId).map(({ type }) => type);
      expect(types.slice(0, 3)).toEqual(['turn.queued', 'message.created', 'turn.started']);
      expect(types.filter((type) => type === 'turn.ended')).toHaveLength(1);
    }
    expectGrammar(view.events);
  });

  test('C15: a failed attempt is shown once to whoever joins later, as failed; the retry replaces it for all alike', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const run = await turn();
    await run.send('abc');
    await run.close('failed', { error: { message: 'boom' } });
    await person.ended(chatId, run.requestId);
    const late = await new Person(url).open();
    const view = await late.follow(chatId);
    expect(view.messages.map(({ props, state }) => [props['content'], state])).toEqual([
      ['go', 'closed'],
      ['abc', 'closed'],
    ]);
    expect([...(view.view?.turns.values() ?? [])]).toEqual([expect.objectContaining({ status: 'failed' })]);
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    await next.send('xyz');
    await next.close();
    await late.ended(chatId, run.requestId, 2);
    const history = await expectConsistent(url, chatId, [person, late]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'xyz']);
  });
});

describe('TRN-8: two write transactions', () => {
  test('C21: whatever an attempt holds, write 1 and write 2 are all there is; a resume is two more', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const before = await writes(url);
    const run = await turn();
    expect((await writes(url)) - before).toBe(1);
    for (let index = 0; index < 20; index++) {
      const stepId = uid('s');
      await run.push(
        { op: 'step.start', stepId, type: 'llm', input: { index } },
        { op: 'send', type: 'text', props: { content: `${index}` } },
        ...(index < 19 ? [{ op: 'step.end' as const, stepId, status: 'completed' as const }] : []),
      );
    }
    expect((await writes(url)) - before).toBe(1);
    await run.close('failed', { error: 'no' });
    await person.ended(chatId, run.requestId);
    expect((await writes(url)) - before).toBe(2);
    await person.do('turn:resume', { requestId: run.requestId, attempt: 2 });
    const next = await agent.run(run.requestId, 2);
    await next.send('new');
    await next.close();
    await person.ended(chatId, run.requestId, 2);
    expect((await writes(url)) - before).toBe(4);
    await expectConsistent(url, chatId, [person]);
  });

  test('write 2 stores the messages, the steps, the end of the turn and the last activity of the chat', async () => {
    const { server, person, chatId, turn } = await scene();
    const run = await turn();
    await run.push({ op: 'step.start', stepId: uid('s'), type: 'llm' });
    await run.send('x');
    await run.close('completed', { usage: { tokens: 3 } });
    const { turn: ended } = await person.ended(chatId, run.requestId);
    expect(ended.usage).toEqual({ tokens: 3 });
    expect(await storeBeside(server.dataDir).rows('SELECT status FROM agent_turn')).toEqual([{ status: 'completed' }]);
    expect(await storeBeside(server.dataDir).rows('SELECT status FROM agent_step')).toEqual([{ status: 'completed' }]);
    const { chat } = await person.do<Result<'chat:get'>>('chat:get', { chatId });
    const stored = await person.do<Result<'chat:list'>>('chat:list', {});
    expect(stored.data[0]).toEqual(chat);
    expect(chat.lastMessageAt).not.toBeNull();
  });

  test('C22: a hundred turns that end in one tick in a hundred chats, while readers poll: all stored', async () => {
    const { url, person, agent, server } = await scene();
    const chats = await Promise.all(Array.from({ length: 100 }, () => person.createChat({ assistantId: 'bot' })));
    const started = await Promise.all(chats.map((chatId) => person.start(chatId, 'go')));
    const runs = await Promise.all(started.map(({ turn }) => agent.run(turn.requestId)));
    await Promise.all(runs.map((run) => run.send('answer')));
    let isOver = false;
    const polling = (async () => {
      for (let reads = 0; !isOver; reads++)
        expect((await httpHistory(url, chats[reads % 100] as string)).length).toBe(2);
    })();
    const before = await writes(url);
    const ends = await Promise.all(runs.map((run) => run.close()));
    isOver = true;
    await polling;
    expect(ends.every((end) => 'persisted' in end && end.persisted)).toBe(true);
    expect(
      await storeBeside(server.dataDir).rows("SELECT count(*) AS n FROM agent_turn WHERE status = 'completed'"),
    ).toEqual([{ n: 100 }]);
    // Those that wait while one is written are stored together.
    expect((await writes(url)) - before).toBeLessThan(100);
  });

  test('C23: ten thousand messages of one turn are stored in order; the server answers meanwhile', async () => {
    const assistant = defineAssistant({
      assistantId: 'many',
      async run(ctx) {
        for (let index = 0; index < 10_000; index++) await ctx.end(await ctx.send(`${index}`));
      },
    });
    const server = await startServer({ assistants: [assistant] });
    const person = await new Person(server.url).open();
    const other = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'many' });
    await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    let longest = 0;
    let isOver = false;
    const probing = (async () => {
      while (!isOver) {
        const began = performance.now();
        await other.ask('chat:get', { chatId });
        longest = Math.max(longest, performance.now() - began);
      }
    })();
    await person.ended(chatId, turn.requestId, 1, 25_000);
    isOver = true;
    await probing;
    expect(longest).toBeLessThan(1000);
    const stored = await storeBeside(server.dataDir).rows(
      'SELECT props FROM agent_message WHERE request_id = ? AND role = ? ORDER BY sequence',
      turn.requestId,
      'assistant',
    );
    expect(stored.map(({ props }) => (props as { content: string }).content)).toEqual(
      Array.from({ length: 10_000 }, (_, index) => `${index}`),
    );
  });

  test('C21: polled across the end of many turns, each message stands exactly once and no text shrinks', async () => {
    const { url, person } = await scene();
    const chatId = await person.createChat();
    await person.follow(chatId);
    const late = await new Person(url).open();
    let isOver = false;
    const lengths = new Map<string, number>();
    const look = (messages: readonly { messageId: string; props: Record<string, unknown> }[]): void => {
      expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(messages.length);
      for (const messageId of lengths.keys())
        expect(messages.some((message) => message.messageId === messageId)).toBe(true);
      for (const { messageId, props } of messages) {
        const { length } = props['content'] as string;
        expect(length).toBeGreaterThanOrEqual(lengths.get(messageId) ?? 0);
        lengths.set(messageId, length);
      }
    };
    const polling = (async () => {
      while (!isOver) {
        look(await httpHistory(url, chatId));
        look((await late.follow(chatId, { fresh: true })).messages);
        await late.do('chat:unsubscribe', { chatId });
      }
    })();
    for (let round = 0; round < 60; round++) {
      const { turn } = await person.start(chatId, 'three short words', { metadata: { delayMs: 0 } });
      await person.ended(chatId, turn.requestId);
    }
    isOver = true;
    await polling;
    look(await httpHistory(url, chatId));
    expect(lengths.size).toBe(120);
    await expectConsistent(url, chatId, [person]);
  });

  test('C43: one send and a hundred appends make equal rows and equal history', async () => {
    const { url, person, chatId, turn } = await scene();
    const text = 'tick '.repeat(100);
    const run = await turn();
    await run.send(text);
    const streamed = await run.send('');
    await Promise.all(Array.from({ length: 100 }, () => run.append(streamed, 'tick ')));
    await run.close();
    await person.ended(chatId, run.requestId);
    const [, one, many] = await expectConsistent(url, chatId, [person]);
    const same = { messageId: '', sequence: 0, createdAt: '', updatedAt: '' };
    expect({ ...many, ...same }).toEqual({ ...one, ...same });
    const next = await turn();
    expect(next.assignment?.history.map(({ props }) => props['content'])).toEqual(['go', text, text]);
  });
});
