import { describe, expect, test } from 'vitest';
import { defineAssistant, type Context } from '../../assistant/index.js';
import type { Turn } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { Refused } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { expectGrammar } from './grammar.js';
import { requestAs } from './request-as.js';
import { scene } from './scene.js';

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (error: unknown) =>
      error instanceof Refused ? error.error.code : ((error as { code?: string }).code ?? String(error)),
  );

describe('C12: stop from anywhere', () => {
  test('C12: 50 times, by another connection or by HTTP: within 1 s, one end for everybody, nothing after it', async () => {
    const here = await scene();
    const { url, chatId, person } = here;
    const second = await new Person(url).open();
    await second.follow(chatId);
    for (let round = 0; round < 50; round++) {
      const run = await here.turn();
      const messageId = await run.send('');
      await run.append(messageId, 'text');
      const began = performance.now();
      const stop =
        round % 2
          ? requestAs(url, {}, 'turn:stop', { requestId: run.requestId })
          : second.do('turn:stop', { requestId: run.requestId });
      const [{ turn }] = await Promise.all([stop as Promise<{ turn: Turn }>, code(run.append(messageId, ' late'))]);
      expect(turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
      for (const who of [person, second]) await who.ended(chatId, run.requestId);
      expect(performance.now() - began).toBeLessThan(1000);
      expect(await run.aborted()).toMatchObject({ reason: 'stopped' });
      expect([here.view.ends(run.requestId).length, second.chats.get(chatId)?.ends(run.requestId).length]).toEqual([
        1, 1,
      ]);
    }
    expectGrammar(here.view.events);
    await expectConsistent(url, chatId, [person, second]);
  });
});

describe('C18: nothing revives what has ended', () => {
  test('C18: an agent that ignores its abort is refused; views and rows stay as they were', async () => {
    const here = await scene();
    const { person, chatId, url } = here;
    const run = await here.turn();
    const messageId = await run.send('shown');
    await person.do('turn:stop', { requestId: run.requestId });
    await person.ended(chatId, run.requestId);
    const { position } = here.view;
    const late = Array.from({ length: 20 }, () => code(run.append(messageId, 'ghost')));
    expect(await Promise.all(late)).toEqual(late.map(() => 'turn_ended'));
    for (const op of [
      { op: 'end', messageId },
      { op: 'send', type: 'text', props: {} },
      { op: 'replace', messageId, props: {} },
      { op: 'signal', name: 'ghost', data: 1 },
    ] as const) {
      expect(await code(run.push(op))).toBe('turn_ended');
    }
    expect(await code(run.close())).toBe('turn_ended');
    expect(person.signals).toEqual([]);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.at(-1)).toMatchObject({ state: 'closed', props: { content: 'shown' } });
    expect(here.view.position).toEqual(position);
    expect(here.view.ends(run.requestId)).toHaveLength(1);
    expectGrammar(here.view.events);
  });

  test('C18: so is an assistant in the process that ignores its signal', async () => {
    const outcomes: string[] = [];
    const resumed: (() => void)[] = [];
    let isDone = false;
    const deaf = defineAssistant({
      assistantId: 'deaf',
      async run(ctx) {
        const messageId = await ctx.send('shown');
        await new Promise<void>((resolve) => resumed.push(resolve));
        for (let index = 0; index < 20; index++) outcomes.push(await code(ctx.append(messageId, 'ghost')));
        outcomes.push(await code(ctx.end(messageId)), await code(ctx.send('ghost')), await code(ctx.signal('ghost')));
        isDone = true;
      },
    });
    const here = await scene({ assistants: [deaf] });
    const { person, chatId } = here;
    const { turn } = await person.start(chatId, 'go', { assistantId: 'deaf' });
    await until(() => here.view.text(turn.requestId) === 'shown', 'the text');
    await person.do('turn:stop', { requestId: turn.requestId });
    resumed[0]!();
    await until(() => isDone, 'the deaf one');
    expect(outcomes).toEqual(outcomes.map(() => 'turn_ended'));
    const next = await here.turn();
    await next.close();
    await person.ended(chatId, next.requestId);
    expect(here.view.text(turn.requestId)).toBe('shown');
    expectGrammar(here.view.events);
    await expectConsistent(here.url, chatId, [person]);
  });
});

describe('C57: the grammar of events', () => {
  const leave = (ctx: Context) => ctx.send('said');
  const endings: Record<string, [(ctx: Context) => unknown, Partial<Turn>]> = {
    'throws-at-once': [
      () => {
        throw new Error('no');
      },
      { status: 'failed', stopReason: 'error', error: { code: 'error', message: 'no' } },
    ],
    'rejects-after-a-send': [
      async (ctx) => {
        await leave(ctx);
        throw Object.assign(new TypeError('late'), { secret: 1 });
      },
      { status: 'failed', stopReason: 'error', error: { code: 'error', message: 'late' } },
    ],
    'throws-a-text': [
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- assistants throw anything
        throw 'a text';
      },
      { status: 'failed', error: { code: 'error', message: 'a text' } },
    ],
    'throws-nothing': [
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- assistants throw anything
        throw undefined;
      },
      { status: 'failed', error: { code: 'error', message: 'the assistant failed' } },
    ],
    'throws-half-a-pair': [
      () => {
        throw new Error('\ud83d');
      },
      { status: 'failed', error: { code: 'error', message: '\ufffd' } },
    ],
    'throws-a-novel': [
      () => {
        throw new Error('x'.repeat(100_000));
      },
      { status: 'failed', error: { code: 'error', message: 'x'.repeat(10_000) } },
    ],
    'sends-what-is-refused': [
      async (ctx) => {
        await ctx.append('unknown', 'x');
      },
      { status: 'failed' },
    ],
    'returns-nothing': [() => undefined, { status: 'completed', error: null, stopReason: null }],
    'returns-an-output': [leave, { status: 'completed' }],
    'returns-no-json': [() => 1n, { status: 'failed' }],
    'leaves-messages-open': [
      async (ctx) => {
        await leave(ctx);
        await leave(ctx);
      },
      { status: 'completed' },
    ],
    'does-not-await': [
      (ctx) => {
        void leave(ctx).catch(() => undefined);
      },
      { status: 'completed' },
    ],
    'ends-a-message-twice': [
      async (ctx) => {
        const messageId = await leave(ctx);
        await ctx.end(messageId);
        await ctx.end(messageId);
      },
      { status: 'failed' },
    ],
  };

  test('C57: queued, started, messages, one end: however an assistant behaves, and each after the other', async () => {
    const assistants = Object.entries(endings).map(([assistantId, [run]]) =>
      defineAssistant({ assistantId, run: run as never }),
    );
    const { url } = await startServer({ assistants, env: { AGENT_WAIT_MS: '1' } });
    const person = await new Person(url).open();
    const chatId = await person.createChat();
    const view = await person.follow(chatId);
    for (const assistantId of [...Object.keys(endings), 'absent']) {
      const { turn } = await person.start(chatId, 'go', { assistantId, requestId: assistantId });
      const { turn: ended } = await person.ended(chatId, turn.requestId);
      expect(ended, assistantId).toMatchObject(
        endings[assistantId]?.[1] ?? {
          status: 'failed',
          stopReason: 'agent_unavailable',
          error: { code: 'agent_unavailable' },
        },
      );
    }
    expectGrammar(view.events);
    await expectConsistent(url, chatId, [person]);
  });

  test('C57: agents that fail at once, stop themselves or close twice', async () => {
    const here = await scene();
    const { person, chatId } = here;
    for (const [status, stopReason] of [
      ['failed', 'error'],
      ['interrupted', 'stopped'],
      ['completed', null],
    ] as const) {
      const run = await here.turn();
      const closed = await run.close(status, {
        error: status === 'failed' ? { code: 'overloaded', message: 'Later.' } : null,
      });
      expect(closed).toMatchObject({
        turn: { status, stopReason, error: status === 'failed' ? { code: 'overloaded', message: 'Later.' } : null },
        persisted: true,
      });
      expect(await code(run.close('failed'))).toBe('turn_ended');
      await person.ended(chatId, run.requestId);
    }
    const resumable = await here.turn();
    await resumable.send('first try');
    await resumable.close('failed', { error: 'no' });
    await person.ended(chatId, resumable.requestId);
    await person.do('turn:resume', { requestId: resumable.requestId });
    const again = await here.agent.run(resumable.requestId, 2);
    await again.send('second try');
    await again.close();
    await person.ended(chatId, resumable.requestId, 2);
    expectGrammar(here.view.events);
    await expectConsistent(here.url, chatId, [person]);
  });
});
