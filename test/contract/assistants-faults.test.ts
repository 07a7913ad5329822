import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAssistant, tool, type Assistant, type Context } from '../../assistant/index.js';
import type { Json, TurnError } from '../../protocol/index.js';
import { scripted } from '../harness/scripted-model.js';
import { agentOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { hosts, sceneOn, type AssistantScene } from './assistant-hosts.js';
import { forever, told } from './assistant-watch.js';

/** Assistants that do what they should not: a clear error on their turn, what they sent is stored, nobody else notices. */

const assistant = (assistantId: string, run: Assistant['run']): Assistant => defineAssistant({ assistantId, run });

const lost: unknown[] = [];
const note = (reason: unknown): unknown => lost.push(String(reason));
beforeEach(() => void process.on('unhandledRejection', note));
afterEach(() => {
  process.off('unhandledRejection', note);
  expect(lost.splice(0), 'rejections that end a process').toEqual([]);
});

/** A turn in another chat that goes on while others fail. */
function bystander() {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const steady = assistant('steady', async (ctx) => {
    const id = await ctx.send('still');
    await held;
    await ctx.append(id, ' here');
  });
  return {
    steady,
    start: async (scene: AssistantScene) => {
      const other = await sceneOn(scene.url);
      const { requestId, turn } = await other.start('steady', 'go');
      await other.shows('still');
      return {
        isUntouched: async (): Promise<void> => {
          release();
          expect(await turn).toMatchObject({ status: 'completed', error: null });
          expect(await other.answers(requestId)).toEqual(['still here']);
        },
      };
    },
  };
}

function deep(levels: number): Json {
  let value: Json = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

const cyclic = (): Json => {
  const value: Record<string, unknown> = { list: [] };
  (value['list'] as unknown[]).push(value);
  return value as Json;
};

const nonsense: Record<string, () => unknown> = {
  function: () => () => 1,
  cyclic,
  bigint: () => ({ big: 1n }),
  date: () => new Date(0),
  deep: () => deep(1_000_000),
  'a forbidden key': () => JSON.parse('{"a": {"__proto__": 1}}') as unknown,
  infinity: () => [Infinity],
  symbol: () => Symbol('s'),
  map: () => new Map([['a', 1]]),
};

const unreadable = (): Error =>
  Object.defineProperty(new Error('hidden'), 'message', {
    get: () => {
      throw new Error('no message for you');
    },
  });

const thrown: Record<string, { readonly value: unknown; readonly error: TurnError }> = {
  error: { value: new Error('boom'), error: { code: 'error', message: 'boom' } },
  coded: { value: Object.assign(new Error('late'), { code: 'ELATE' }), error: { code: 'ELATE', message: 'late' } },
  wordless: { value: new TypeError(), error: { code: 'error', message: 'TypeError' } },
  string: { value: 'just so', error: { code: 'error', message: 'just so' } },
  null: { value: null, error: { code: 'error', message: 'the assistant failed' } },
  object: { value: { message: 'no error' }, error: { code: 'error', message: 'the assistant failed' } },
  broken: { value: new Error('half \ud800'), error: { code: 'error', message: 'half \ufffd' } },
  unreadable: { value: unreadable(), error: { code: 'error', message: 'the assistant failed' } },
};

const faultOf = (ctx: Context): string => told(ctx, 'fault');

describe.each(hosts)('$name', ({ host }) => {
  test('run throws whatever it likes, in steps and calls too: its error is that of the turn', async () => {
    const { steady, start } = bystander();
    const fails = assistant('fails', async (ctx) => {
      await ctx.send('child');
      throw thrown[faultOf(ctx)]?.value;
    });
    const worker = assistant('worker', async (ctx) => {
      const id = await ctx.send('said');
      void ctx.append(id, ' before');
      if (ctx.metadata['where'] === 'step')
        await ctx.step('tool', null, () => {
          throw thrown[faultOf(ctx)]?.value;
        });
      if (ctx.metadata['where'] === 'call') await ctx.delegate('fails', 'go');
      throw thrown[faultOf(ctx)]?.value;
    });
    const scene = await host([steady, worker, fails]);
    const other = await start(scene);
    for (const [fault, { error }] of Object.entries(thrown)) {
      for (const where of ['run', 'step', 'call']) {
        const { requestId, turn } = await scene.start('worker', 'go', { fault, where });
        const message = where === 'call' ? `fails: ${error.message}` : error.message;
        expect([fault, where, await turn]).toMatchObject([
          fault,
          where,
          { status: 'failed', stopReason: 'error', error: { code: error.code, message } },
        ]);
        expect(await scene.answers(requestId)).toEqual(['said before', ...(where === 'call' ? ['child'] : [])]);
      }
    }
    await other.isUntouched();
  });

  test('hooks and tools that throw or give nonsense end their turn with a clear error', async () => {
    const { steady, start } = bystander();
    const give = (ctx: Context, where: string): never => {
      if (ctx.metadata['where'] !== where) return undefined as never;
      const fault = faultOf(ctx);
      if (fault in thrown) throw thrown[fault]?.value;
      return nonsense[fault]?.() as never;
    };
    const worker = defineAssistant({
      assistantId: 'worker',
      create: (ctx) => give(ctx, 'create'),
      model: scripted((prompt) =>
        prompt.at(-1)?.role === 'tool' ? ['Done.'] : ['Wait.', { call: 'act', id: 'c1', input: {} }],
      ),
      tools: { act: tool({ inputSchema: z.object({}), execute: (_, ctx) => give(ctx, 'tool') }) },
      next: (ctx) => give(ctx, 'next'),
    });
    const scene = await host([steady, worker]);
    const other = await start(scene);
    const faults = ['error', 'string', 'null', 'function', 'cyclic', 'deep'];
    for (const where of ['create', 'tool', 'next']) {
      for (const fault of faults) {
        const { requestId, turn } = await scene.start('worker', 'go', { fault, where });
        const code = thrown[fault]?.error.code ?? (where === 'tool' ? 'bad_request' : 'bad_result');
        const ended = await turn;
        expect([where, fault, ended.status, ended.error?.code]).toEqual([where, fault, 'failed', code]);
        const said = { create: [], tool: ['Wait.', ''], next: ['Wait.', '', 'Done.'] }[where];
        expect(await scene.answers(requestId)).toEqual(said);
        const last = (await scene.steps(requestId)).at(-1);
        expect([last?.status, (last?.error as TurnError).code]).toEqual(['failed', code]);
      }
    }
    await other.isUntouched();
  });

  test('DAT-2: an output that is no JSON fails the turn, and what was sent is stored', async () => {
    const { steady, start } = bystander();
    const worker = assistant('worker', async (ctx) => {
      await ctx.send('said');
      return nonsense[faultOf(ctx)]?.() as Json;
    });
    const scene = await host([steady, worker]);
    const other = await start(scene);
    for (const fault of Object.keys(nonsense)) {
      const { requestId, turn } = await scene.start('worker', 'go', { fault });
      const { status, error } = await turn;
      expect([fault, status, error?.code]).toEqual([fault, 'failed', 'bad_request']);
      expect(error?.message).toMatch(/^output/);
      expect(await scene.answers(requestId)).toEqual(['said']);
    }
    await other.isUntouched();
  });

  test('what is refused says so and changes nothing; the run may go on', async () => {
    const refused: unknown[] = [];
    const worker = assistant('worker', async (ctx) => {
      const id = await ctx.send('kept');
      const closed = await ctx.send('closed');
      await ctx.end(closed);
      const attempts: Record<string, () => Promise<unknown> | void> = {
        'an unknown message': () => ctx.append('nobody-knows-this-message', 'x'),
        'a closed one': () => ctx.append(closed, 'x'),
        'a closed one, replaced': () => ctx.replace(closed, 'x'),
        'no text': () => ctx.append(id, 5 as never),
        'a forbidden path': () => ctx.set(id, '__proto__.x', 1),
        'a path through a text': () => ctx.set(id, 'content.x', 1),
        'a cyclic value': () => ctx.merge(id, cyclic()),
        'no message': () => ctx.send(undefined as never),
        'no props': () => ctx.send({ type: 'text' } as never),
        'a short id': () => ctx.send({ type: 'text', props: {}, messageId: 'short' }),
        'an id twice': () => ctx.send({ type: 'text', props: {}, messageId: id }),
        'an unknown step': () => ctx.send({ type: 'text', props: {}, stepId: 'a-step-that-is-not-there' }),
        'nobody to ask': () => ctx.delegate('not an id', 'x'),
        'nothing to ask': () => ctx.call('steady', []),
        'space NaN': () => ctx.space.set('key', NaN),
        'space cyclic': () => ctx.space.set('key', cyclic()),
        'space key': () => ctx.space.set('__proto__', 1),
        'space restored': () => ctx.space.restore([] as never),
      };
      for (const [what, attempt] of Object.entries(attempts)) {
        try {
          await attempt();
          refused.push([what, 'taken']);
        } catch (error) {
          refused.push([what, (error as { code: string }).code]);
        }
      }
      expect(refused).toEqual(Object.keys(attempts).map((what) => [what, 'bad_request']));
      expect(ctx.space.snapshot()).toEqual({});
      await ctx.append(id, ' and went on');
    });
    const scene = await host([worker]);
    const turn = await scene.ask('worker', 'go');
    expect(turn).toMatchObject({ status: 'completed', error: null });
    expect(await scene.answers(turn.requestId)).toEqual(['kept and went on', 'closed']);
  });

  test('refused and not waited for: the process goes on, however often, at once and in a later attempt', async () => {
    const worker = assistant('worker', async (ctx) => {
      const id = await ctx.send('said');
      await ctx.step('tool', null, () => null);
      for (let count = 0; count < 200; count++) void ctx.append('nobody-knows-this-message', 'x');
      void ctx.append(id, 5 as never);
      void ctx.set(id, 'content.x', 1);
      void ctx.send(undefined as never);
      void ctx.step('none' as never, null, () => null);
      void ctx.step('llm', null, () => {
        throw new Error('unheard');
      });
      void ctx.delegate('', 'x');
      void ctx.callAny([]);
      ctx.space.getDel('nothing');
      await ctx.append(id, ' more');
      if (ctx.turn.attempt === 1) throw new Error('again');
    });
    const scene = await host([worker]);
    const { requestId, error } = await scene.ask('worker', 'go');
    expect(error?.message).toBe('again');
    expect(await scene.answers(requestId)).toEqual(['said more']);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(await scene.answers(requestId)).toEqual(['said more']);
  });

  test('AGT-3: after its end nothing of a turn is taken, however it is tried', async () => {
    let kept: Context | undefined;
    let messageId = '';
    const worker = assistant('worker', async (ctx) => {
      kept = ctx;
      messageId = await ctx.send('said');
      if (ctx.metadata['fault'] === 'throws') throw new Error('over');
    });
    const scene = await host([worker]);
    for (const fault of ['ends', 'throws']) {
      const { requestId, turn } = await scene.start('worker', 'go', { fault });
      await turn;
      const ctx = kept as Context;
      const tries = [
        ctx.send('late'),
        ctx.append(messageId, 'late'),
        ctx.space.set('late', 1),
        ctx.signal('late'),
        ctx.step('tool', null, () => null),
        ctx.delegate('worker', 'late'),
      ];
      const codes = (await Promise.allSettled(tries)).map(
        (result) => 'reason' in result && (result.reason as TurnError).code,
      );
      expect(codes).toEqual(tries.map(() => 'turn_ended'));
      expect(await scene.answers(requestId)).toEqual(['said']);
    }
  });

  test('DAT-3: what is too large is refused with the limit it meets, and leaves no trace', async () => {
    const huge = 'x'.repeat(400_000);
    const env = { MAX_FRAME_BYTES: '100000', MAX_MESSAGE_BYTES: '100000', MAX_TURN_BYTES: '300000' };
    const refused: unknown[] = [];
    const worker = assistant('worker', async (ctx) => {
      const keep = ({ code, details }: Error & { code: string; details: { limit: string } }): unknown =>
        refused.push([code, typeof details.limit]);
      const id = await ctx.send('kept');
      await ctx.space.set('key', 'small');
      await ctx.send(huge).catch(keep);
      await ctx.append(id, huge).catch(keep);
      await ctx.space.set('key', huge).catch(keep);
      await ctx.step('tool', null, () => huge).catch(keep);
      await ctx.step('tool', huge, () => null).catch(keep);
      await ctx.call('worker', huge).catch(keep);
      expect(ctx.space.get('key')).toBe('small');
      await ctx.append(id, ' and more');
    });
    const scene = await host([worker], { env });
    const turn = await scene.ask('worker', 'go');
    expect(turn).toMatchObject({ status: 'completed', error: null });
    expect(refused).toEqual(Array(6).fill(['payload_too_large', 'string']));
    expect(await scene.answers(turn.requestId)).toEqual(['kept and more']);
    const steps = await scene.steps(turn.requestId);
    expect(steps.map(({ status, input, output }) => [status, input, output])).toEqual([['failed', null, null]]);
  });

  test('an assistant that asks itself without end meets the depth limit', async () => {
    let runs = 0;
    const loop = assistant('loop', async (ctx) => {
      runs += 1;
      await ctx.send('down ');
      return ctx.delegate('loop', 'go on');
    });
    const scene = await host([loop]);
    const { requestId, status, error } = await scene.ask('loop', 'go');
    expect([status, error?.code]).toEqual(['failed', 'bad_request']);
    expect(error?.message).toContain('A call stack has at most 32 levels');
    expect(runs).toBe(33);
    expect(await scene.answers(requestId)).toHaveLength(33);
  });

  test('AGT-8: nobody serves the one that is asked: agent_unavailable, which the caller may catch', async () => {
    const caught: unknown[] = [];
    const worker = assistant('worker', async (ctx) => {
      await ctx.call('nobody', 'x').catch((error: { code: string }) => caught.push(error.code));
      await ctx.send('alone');
      await ctx.delegate('nobody', 'x');
    });
    const scene = await host([worker], { env: { AGENT_WAIT_MS: '50' } });
    const { requestId, status, error } = await scene.ask('worker', 'go');
    expect(caught).toEqual(['agent_unavailable']);
    expect([status, error]).toEqual([
      'failed',
      { code: 'agent_unavailable', message: 'nobody: No agent serves nobody at present.' },
    ]);
    expect(await scene.answers(requestId)).toEqual(['alone']);
  });

  test('TRN-5: a run that never returns, and one that ignores its abort and goes on sending, free the chat within 1 s', async () => {
    let over = false;
    let reason: unknown;
    let sends = 0;
    const worker = assistant('worker', async (ctx) => {
      ctx.abortSignal.addEventListener('abort', () => (reason = ctx.abortSignal.reason as Error));
      const id = await ctx.send('here');
      if (ctx.metadata['fault'] === 'hangs') await forever();
      while (!over) {
        sends += 1;
        await ctx.append(id, '.').catch(() => undefined);
        await ctx.send('more').catch(() => undefined);
        await ctx.step('tool', null, () => null).catch(() => undefined);
      }
      throw new Error('nobody hears this');
    });
    const { steady, start } = bystander();
    const scene = await host([steady, worker, assistant('next', async (ctx) => void (await ctx.send('next')))]);
    const other = await start(scene);
    for (const fault of ['hangs', 'sends']) {
      const { requestId } = await scene.start('worker', 'go', { fault });
      await until(async () => (await scene.answers(requestId)).length > 0, 'its message');
      const began = performance.now();
      expect(await scene.stop(requestId)).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
      const { requestId: nextId, status } = await scene.ask('next', 'go');
      expect(performance.now() - began).toBeLessThan(1000);
      expect([status, await scene.answers(nextId)]).toEqual(['completed', ['next']]);
      expect(reason).toBeInstanceOf(Error);
      expect((reason as Error).name).toBe('stopped');
      const stored = await scene.messages(requestId);
      const before = sends;
      if (fault === 'sends') await until(() => sends > before + 100, 'what it still sends');
      expect(await scene.messages(requestId)).toEqual(stored);
    }
    over = true;
    await other.isUntouched();
  });
});

test('AGT-5: an agent whose run hangs has its place free again when the turn is stopped', async () => {
  const { url } = await startServer();
  const stuck = assistant('stuck', async (ctx) => {
    await ctx.send('here');
    if (ctx.metadata['hang'] === true) await forever();
  });
  await agentOf(url, [stuck], { auth: { userId: 'agent', roles: ['agent'] }, concurrency: 1 });
  const scene = await sceneOn(url);
  const { requestId } = await scene.start('stuck', 'go', { hang: true });
  await scene.shows('here');
  const waiting = (await sceneOn(url)).ask('stuck', 'go');
  await scene.stop(requestId);
  expect((await waiting).status).toBe('completed');
});
