import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant, type Context } from '../../assistant/index.js';
import type { Json, Step, StepType } from '../../protocol/index.js';
import { until } from '../harness/until.js';
import { hosts, type AssistantScene } from './assistant-hosts.js';
import { forever, outline, told } from './assistant-watch.js';

/** What `ctx.step` records, and what of it a later attempt does again. */

const assistant = (assistantId: string, run: Assistant['run']): Assistant => defineAssistant({ assistantId, run });

/** The inputs of the turn's steps with the texts that belong to each, in order. */
async function textsBySteps(scene: AssistantScene, requestId: string): Promise<[input: unknown, texts: unknown[]][]> {
  const messages = await scene.messages(requestId);
  const of = (stepId: string | null): unknown[] =>
    messages.filter((message) => message.stepId === stepId).map(({ props }) => props['content']);
  const steps = await scene.steps(requestId);
  return [[null, of(null)], ...steps.map(({ stepId, input }): [unknown, unknown[]] => [input, of(stepId)])];
}

const byInput = (steps: readonly Step[], input: Json): Step | undefined => steps.find((step) => step.input === input);

describe.each(hosts)('$name', ({ host }) => {
  test('a message belongs to the step that sends it, nested and through what the code calls', async () => {
    const say = async (ctx: Context, text: string): Promise<void> => void (await ctx.send(text));
    const worker = assistant('worker', async (ctx) => {
      const closure = (text: string): Promise<void> => say(ctx, text);
      await closure('root 1');
      await ctx.step('hook_create', 'outer', async () => {
        await closure('outer 1');
        await Promise.resolve().then(() =>
          ctx.step('tool', 'inner', () => Promise.all(['inner 1', 'inner 2'].map(closure)).then(() => null)),
        );
        await closure('outer 2');
      });
      await closure('root 2');
    });
    const scene = await host([worker]);
    const { requestId } = await scene.ask('worker', 'go');
    expect(await textsBySteps(scene, requestId)).toEqual([
      [null, ['root 1', 'root 2']],
      ['outer', ['outer 1', 'outer 2']],
      ['inner', ['inner 1', 'inner 2']],
    ]);
    expect((await scene.answers(requestId)).at(-1)).toBe('root 2');
  });

  test('parallel steps keep their own messages and ends, in whatever order they end', async () => {
    const release = new Map<string, () => void>();
    const names = ['a', 'b', 'c'];
    const worker = assistant('worker', async (ctx) => {
      const outputs = await Promise.all(
        names.map((name) =>
          ctx.step('tool', name, async () => {
            await ctx.send(`${name} 1`);
            await new Promise<void>((resolve) => release.set(name, resolve));
            await ctx.send(`${name} 2`);
            return name;
          }),
        ),
      );
      await ctx.send(outputs.join());
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    for (const [at, name] of ['b', 'c', 'a'].entries()) {
      await until(() => release.has(name), `${name} waits`);
      const statuses = (await scene.steps(requestId)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 'completed')).toHaveLength(at);
      release.get(name)?.();
      await until(
        async () => byInput(await scene.steps(requestId), name)?.status === 'completed',
        `the end of ${name}`,
      );
    }
    expect((await turn).status).toBe('completed');
    expect(await textsBySteps(scene, requestId)).toEqual([
      [null, ['a,b,c']],
      ...names.map((name) => [name, [`${name} 1`, `${name} 2`]]),
    ]);
  });

  test('DAT-2: outputs are JSON, cleaned as they are stored: the same at once and when they are replayed', async () => {
    const given: unknown[] = [];
    const worker = assistant('worker', async (ctx) => {
      const made = async (output: unknown): Promise<Json> => ctx.step('tool', null, () => output as Json);
      given.push([
        await made(undefined),
        await made({ a: undefined, b: [1, { c: undefined }], d: -0 }),
        await made('half \ud800'),
        await made(Promise.resolve(7)),
        await made(false),
      ]);
      if (ctx.turn.attempt === 1) throw new Error('again');
    });
    const scene = await host([worker]);
    const { requestId } = await scene.ask('worker', 'go');
    const outputs = [null, { b: [1, {}], d: 0 }, 'half \ufffd', 7, false];
    expect((await scene.steps(requestId)).map(({ output }) => output)).toEqual(outputs);
    await scene.resume(requestId);
    expect(given).toEqual([outputs, outputs]);
  });

  test('DAT-2: an output or input that is no JSON fails with its path, and records no half of it', async () => {
    const codes: unknown[] = [];
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const bad: unknown[] = [() => 1, { at: new Date(0) }, { big: [1n] }, NaN, cyclic, JSON.parse('{"__proto__": 1}')];
    const worker = assistant('worker', async (ctx) => {
      const codeOf = (work: Promise<unknown>): Promise<unknown> =>
        work.then(
          () => 'taken',
          (error: { code: string }) => error.code,
        );
      for (const value of bad) {
        codes.push(await codeOf(ctx.step('tool', 'output', () => value as Json)));
        codes.push(await codeOf(ctx.step('tool', { value }, () => null)));
      }
      codes.push(await codeOf(ctx.step('sleep' as StepType, 'type', () => null)));
    });
    const scene = await host([worker]);
    const { requestId, status } = await scene.ask('worker', 'go');
    expect(status).toBe('completed');
    expect(new Set(codes)).toEqual(new Set(['bad_request']));
    expect(codes).toHaveLength(2 * bad.length + 1);
    const steps = await scene.steps(requestId);
    expect(outline(steps)).toEqual(bad.map(() => ['tool', 'failed', 'output']));
    expect(steps.map(({ output, error }) => [output, (error as { code: string }).code])).toEqual(
      bad.map(() => [null, 'bad_request']),
    );
  });

  test('a step knows its place: sequence, stack and depth; a call is a stack below', async () => {
    const child = assistant('child', async (ctx) => {
      await ctx.step('tool', 'in the child', () => null);
    });
    const root = assistant('root', async (ctx) => {
      await ctx.step('input', 'first', () => null);
      await ctx.step('hook_next', 'around', async () => void (await ctx.delegate('child', 'hi')));
      await ctx.step('tool', 'last', () => null);
    });
    const scene = await host([root, child]);
    const { requestId } = await scene.ask('root', 'go');
    const steps = await scene.steps(requestId);
    const rootStack = steps[0]?.stackId;
    const childStack = byInput(steps, 'in the child')?.stackId;
    const asks = { assistantId: 'child', messages: [{ type: 'text', props: { content: 'hi' } }] };
    expect(
      steps.map(({ sequence, type, input, stackId, stackParentId, stackDepth, assistantId }) => [
        sequence,
        type,
        input,
        stackId,
        stackParentId,
        stackDepth,
        assistantId,
      ]),
    ).toEqual([
      [1, 'input', 'first', rootStack, null, 0, 'root'],
      [2, 'hook_next', 'around', rootStack, null, 0, 'root'],
      [3, 'delegate', asks, rootStack, null, 0, 'root'],
      [4, 'tool', 'in the child', childStack, rootStack, 1, 'child'],
      [5, 'tool', 'last', rootStack, null, 0, 'root'],
    ]);
    expect(childStack).not.toBe(rootStack);
  });

  test('TRN-9: of an incomplete step, the steps within that had completed are not run again', async () => {
    const ran: string[] = [];
    const worker = assistant('worker', (ctx) =>
      ctx.step('hook_next', 'outer', async () => {
        ran.push('outer');
        await ctx.send(`outer ${ctx.turn.attempt}`);
        for (const name of ['one', 'two', 'three']) {
          await ctx.step('tool', name, async () => {
            ran.push(name);
            await ctx.send(`${name} ${ctx.turn.attempt}`);
            if (name === 'two' && ctx.turn.attempt === 1) throw new Error('not yet');
          });
        }
      }),
    );
    const scene = await host([worker]);
    const { requestId } = await scene.ask('worker', 'go');
    expect((await scene.steps(requestId)).map(({ status }) => status)).toEqual(['failed', 'completed', 'failed']);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(ran).toEqual(['outer', 'one', 'two', 'outer', 'two', 'three']);
    expect(await scene.answers(requestId)).toEqual(['one 1', 'outer 2', 'two 2', 'three 2']);
  });

  test('TRN-9: a failed step whose caller went on is handled: not run again, its error is thrown again', async () => {
    const ran: string[] = [];
    const caught: unknown[] = [];
    const child = assistant('child', () => {
      ran.push('child');
      throw Object.assign(new Error('no child'), { code: 'no_child' });
    });
    const root = assistant('root', async (ctx) => {
      const tried = async (work: Promise<unknown>): Promise<void> => {
        const keep = ({ code = 'error', message }: Error & { code?: string }): unknown => caught.push([code, message]);
        await work.catch(keep);
      };
      await tried(
        ctx.step('tool', 'a', () => {
          ran.push('a');
          throw Object.assign(new Error('no a'), { code: 'no_a' });
        }),
      );
      await tried(ctx.delegate('child', 'go'));
      await tried(ctx.step('tool', 'b', () => Promise.reject(new Error('no b'))));
      await ctx.send('went on');
      await ctx.step('llm', 'c', () => {
        ran.push('c');
        if (ctx.turn.attempt < 3) throw new Error('no c');
      });
    });
    const scene = await host([root, child]);
    const { requestId } = await scene.ask('root', 'go');
    const handled = async (): Promise<unknown[]> =>
      (await scene.steps(requestId)).map(({ status, metadata }) => [status, metadata?.['handled'] === true]);
    const three = [
      ['failed', true],
      ['failed', true],
      ['failed', true],
    ];
    expect(await handled()).toEqual([...three, ['failed', false]]);
    await scene.resume(requestId);
    expect(await handled()).toEqual([...three, ['failed', false]]);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(await handled()).toEqual([...three, ['completed', false]]);
    expect(ran).toEqual(['a', 'child', 'c', 'c', 'c']);
    const once = [
      ['no_a', 'no a'],
      ['no_child', 'child: no child'],
      ['error', 'no b'],
    ];
    expect(caught).toEqual([...once, ...once, ...once]);
    expect(await scene.answers(requestId)).toEqual(['went on']);
  });

  test('TRN-9: what failed and is thrown on, at once, after a message or within another error, runs again', async () => {
    const ran: string[] = [];
    const worker = assistant('worker', async (ctx) => {
      const how = told(ctx, 'how');
      try {
        await ctx.step('tool', how, () => {
          ran.push(how);
          if (ctx.turn.attempt === 1) throw new Error('first');
        });
      } catch (error) {
        if (how !== 'at once') await ctx.send('Sorry.');
        throw how === 'wrapped' ? new Error('It failed.', { cause: error }) : error;
      }
    });
    const scene = await host([worker]);
    for (const how of ['at once', 'after a message', 'wrapped']) {
      ran.length = 0;
      const { requestId, turn } = await scene.start('worker', 'go', { how });
      expect((await turn).status).toBe('failed');
      expect([how, (await scene.resume(requestId)).status]).toEqual([how, 'completed']);
      expect(ran).toEqual([how, how]);
    }
  });

  test('TRN-9: of branches in parallel, the failed one and those it cut off run again, the completed ones do not', async () => {
    const ran: string[] = [];
    let hang = true;
    const worker = assistant('worker', async (ctx) => {
      const branch = (name: string, first?: Promise<unknown>): Promise<null> =>
        ctx.step('tool', name, async () => {
          ran.push(name);
          await ctx.send(`${name} ${ctx.turn.attempt}`);
          if (!hang || name.startsWith('done')) return;
          if (name === 'slow') await forever();
          await first;
          throw new Error('one failed');
        });
      const done = [branch('done'), branch('done too')];
      await Promise.all([...done, branch('slow'), branch('bad', Promise.all(done))]);
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    const steps = (): Promise<Step[]> => scene.steps(requestId);
    expect(await turn).toMatchObject({ status: 'failed', error: { message: 'one failed' } });
    expect((await steps()).map(({ input, status }) => [input, status])).toEqual([
      ['done', 'completed'],
      ['done too', 'completed'],
      ['slow', 'failed'],
      ['bad', 'failed'],
    ]);
    hang = false;
    ran.length = 0;
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(ran.sort()).toEqual(['bad', 'slow']);
    expect((await scene.answers(requestId)).sort()).toEqual(['bad 2', 'done 1', 'done too 1', 'slow 2']);
  });

  test('TRN-9: branches of several steps, each within a step of its own, are found again whatever their pace', async () => {
    const ran: string[] = [];
    const outputs: Json[] = [];
    const worker = assistant('worker', async (ctx) => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const branch = (name: string): Promise<Json> =>
        ctx.step('hook_next', name, async (): Promise<Json> => {
          const first = await ctx.step('tool', 'load', async () => {
            if (name === 'a' && ctx.turn.attempt === 1) await held;
            return `${name}1`;
          });
          const second = await ctx.step('tool', 'ask', () => {
            ran.push(name);
            return `${name}2`;
          });
          if (name === 'b') release();
          if (ctx.turn.attempt === 1) await ctx.step('tool', 'fail', () => Promise.reject(new Error(name)));
          return [first, second];
        });
      const both = await Promise.allSettled([branch('a'), branch('b')]);
      for (const result of both) {
        if (result.status === 'rejected') throw result.reason;
        outputs.push(result.value);
      }
    });
    const scene = await host([worker]);
    const { requestId } = await scene.ask('worker', 'go');
    expect(ran).toEqual(['b', 'a']);
    expect((await scene.resume(requestId)).error).toBeNull();
    expect(ran).toEqual(['b', 'a']);
    expect(outputs).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2'],
    ]);
  });

  test('a completed step stays completed, whatever becomes of its turn', async () => {
    const worker = assistant('worker', async (ctx) => {
      await ctx.step('tool', 'before', () => 'kept');
      await ctx.step('hook_next', 'around', async () => {
        await ctx.step('tool', 'within', () => 'kept');
        await ctx.send('now');
        await forever();
      });
    });
    const scene = await host([worker]);
    const { requestId } = await scene.start('worker', 'go');
    await scene.shows('now');
    await scene.stop(requestId);
    expect((await scene.steps(requestId)).map(({ status, output }) => [status, output])).toEqual([
      ['completed', 'kept'],
      ['interrupted', null],
      ['completed', 'kept'],
    ]);
  });
});
