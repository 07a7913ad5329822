import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant, type Context } from '../../assistant/index.js';
import type { Json, StepType } from '../../protocol/index.js';
import { until } from '../harness/until.js';
import { hosts } from './assistant-hosts.js';
import { asked, forever, outline, shown, told } from './assistant-watch.js';

/** A turn that was cut off goes on where it was, whatever runs it: `run(ctx)` with steps, messages and calls. */

const assistant = (assistantId: string, run: Assistant['run']): Assistant => defineAssistant({ assistantId, run });

/** Fails, or works, in the attempts that a test says. */
const failsIn = (ctx: Context, ...attempts: number[]): void => {
  if (attempts.includes(ctx.turn.attempt)) throw new Error(`not in attempt ${ctx.turn.attempt}`);
};

describe.each(hosts)('$name', ({ host }) => {
  test('TRN-9: four attempts, and each step completes once; what completed steps sent stays', async () => {
    const parts = ['one', 'two', 'three', 'four'];
    const ran: string[] = [];
    const given: Json[][] = [];
    const worker = assistant('worker', async (ctx) => {
      const outputs: Json[] = [];
      given.push(outputs);
      for (const [index, part] of parts.entries()) {
        const output = await ctx.step('tool', { part }, async () => {
          ran.push(part);
          const id = await ctx.send(part);
          failsIn(ctx, index);
          await ctx.append(id, ' done');
          return { made: part };
        });
        outputs.push(output);
      }
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    expect(await turn).toMatchObject({ status: 'failed', error: { message: 'not in attempt 1' } });
    expect(await scene.answers(requestId)).toEqual(['one done', 'two']);
    const ids = (await scene.steps(requestId)).map(({ stepId }) => stepId);
    await scene.resume(requestId);
    expect(await scene.answers(requestId)).toEqual(['one done', 'two done', 'three']);
    await scene.resume(requestId);
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', attempt: 4, error: null });
    expect(await scene.answers(requestId)).toEqual(['one done', 'two done', 'three done', 'four done']);
    expect(ran).toEqual(['one', 'two', 'two', 'three', 'three', 'four', 'four']);
    expect(given.at(-1)).toEqual(parts.map((made) => ({ made })));
    const steps = await scene.steps(requestId);
    expect(outline(steps)).toEqual(parts.map((part) => ['tool', 'completed', { part }]));
    expect(steps.slice(0, 2).map(({ stepId }) => stepId)).toEqual(ids);
    expect(steps.map(({ error }) => error)).toEqual([null, null, null, null]);
  });

  test('TRN-9: what the incomplete step had sent stands until its new run sends its first message', async () => {
    let release = (): void => undefined;
    let entered = 0;
    const worker = assistant('worker', (ctx) =>
      ctx.step('llm', null, async () => {
        entered += 1;
        if (ctx.turn.attempt === 1) {
          await ctx.send('old');
          await ctx.send(' older');
          await forever();
        }
        await new Promise<void>((resolve) => (release = resolve));
        await ctx.send('new');
      }),
    );
    const scene = await host([worker]);
    const view = await shown(scene);
    const { requestId } = await scene.start('worker', 'go');
    await until(() => view.messages().length === 2, 'both messages');
    await scene.stop(requestId);
    const resumed = scene.resume(requestId);
    await until(() => entered === 2, 'the second run');
    expect(await scene.answers(requestId)).toEqual(['old', ' older']);
    release();
    expect((await resumed).status).toBe('completed');
    await until(() => view.messages().length === 1, 'the new message alone');
    expect(view.moments.slice(-2)).toEqual([['old', ' older'], ['new']]);
    expect(await scene.answers(requestId)).toEqual(['new']);
  });

  test('TRN-9: a step that sends nothing in its new run loses what it had sent when it completes', async () => {
    const worker = assistant('worker', (ctx) =>
      ctx.step('llm', null, async () => {
        if (ctx.turn.attempt === 1) await ctx.send('once');
        failsIn(ctx, 1);
      }),
    );
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    await turn;
    expect(await scene.answers(requestId)).toEqual(['once']);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(await scene.answers(requestId)).toEqual([]);
    await scene.shows('');
  });

  test('TRN-9: messages outside of steps stand once: the same stays, the cut-off one is completed, another one replaces', async () => {
    const worker = assistant('worker', async (ctx) => {
      const { attempt } = ctx.turn;
      await ctx.end(await ctx.send('Same.'));
      await ctx.step('tool', null, () => null);
      await ctx.send(`Attempt ${attempt}.`);
      const id = await ctx.send('');
      for (const word of ['Hello', ' big', ' world.']) {
        await ctx.append(id, word);
        if (attempt === 1 && word === ' big') await forever();
      }
      await ctx.end(id);
      failsIn(ctx, 2);
      await ctx.send('End.');
    });
    const scene = await host([worker]);
    const view = await shown(scene);
    const { requestId } = await scene.start('worker', 'go');
    await scene.shows('Same.Attempt 1.Hello big');
    await scene.stop(requestId);
    const first = await scene.messages(requestId);
    await until(() => view.moments.at(-1)?.at(-1) === 'Hello big', 'what the first attempt sent');
    const before = view.moments.length;

    expect((await scene.resume(requestId)).status).toBe('failed');
    const second = await scene.messages(requestId);
    expect(second.map(({ props }) => props['content'])).toEqual(['Same.', 'Attempt 2.', 'Hello big world.']);
    expect(second[0]).toEqual(first[0]);

    expect((await scene.resume(requestId)).status).toBe('completed');
    const third = await scene.messages(requestId);
    expect(third.map(({ props }) => props['content'])).toEqual(['Same.', 'Hello big world.', 'Attempt 3.', 'End.']);
    expect(third[0]).toEqual(first[0]);
    expect(third[1]).toEqual(second[2]);
    await scene.shows('Same.Hello big world.Attempt 3.End.');
    // Nobody ever saw the same twice, or less than before of what is only completed.
    for (const texts of view.moments.slice(before)) {
      expect(texts.filter((text) => text.startsWith('Hello big'))).toHaveLength(1);
      expect(texts.filter((text) => text.startsWith('Attempt'))).toHaveLength(1);
    }
  });

  test('TRN-9: a changed, merged or replaced message outside of steps is brought to what the new run makes of it', async () => {
    const worker = assistant('worker', async (ctx) => {
      const id = await ctx.send({ type: 'loading', props: { message: 'Loading', done: false } });
      await ctx.step('tool', null, () => null);
      await ctx.merge(id, { rows: [1, 2] });
      await ctx.set(id, 'rows.2', 3);
      if (ctx.turn.attempt === 1) throw new Error('cut off');
      await ctx.replace(id, { type: 'text', props: { content: 'Loaded' } });
      await ctx.append(id, '.');
      await ctx.end(id);
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    await turn;
    const loading = { message: 'Loading', done: false, rows: [1, 2, 3] };
    expect((await scene.messages(requestId)).map(({ props }) => props)).toEqual([loading]);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(await scene.messages(requestId)).toMatchObject([
      { type: 'text', props: { content: 'Loaded.' }, state: 'closed' },
    ]);
  });

  test('TRN-9: a turn that recorded no step runs again as a whole', async () => {
    const worker = assistant('worker', async (ctx) => {
      await ctx.send(`try ${ctx.turn.attempt}`);
      failsIn(ctx, 1);
      await ctx.send('done');
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    await turn;
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(await scene.answers(requestId)).toEqual(['try 2', 'done']);
  });

  test('TRN-9: another type, input or order than was recorded is a clear error, and changes nothing', async () => {
    type Made = readonly [StepType, Json];
    const first: Made[] = [
      ['llm', { n: 1, text: 'a' }],
      ['tool', { n: 2 }],
    ];
    const variants: Record<string, Made[]> = {
      type: [['tool', { n: 1, text: 'a' }]],
      input: [['llm', { n: 1, text: 'b' }]],
      order: [
        ['tool', { n: 2 }],
        ['llm', { n: 1, text: 'a' }],
      ],
    };
    const ran: Json[] = [];
    const worker = assistant('worker', async (ctx) => {
      const made = ctx.turn.attempt === 1 ? first : (variants[told(ctx, 'variant')] ?? []);
      for (const [type, input] of made) {
        await ctx.step(type, input, async () => {
          ran.push(input);
          await ctx.send('sent');
        });
      }
      await ctx.step('hook_next', null, () => failsIn(ctx, 1));
    });
    const scene = await host([worker]);
    for (const variant of Object.keys(variants)) {
      ran.length = 0;
      const { requestId, turn } = await scene.start('worker', 'go', { variant });
      await turn;
      const before = await scene.steps(requestId);
      const { status, error } = await scene.resume(requestId);
      expect([variant, status, error?.code]).toEqual([variant, 'failed', 'resume_mismatch']);
      expect(error?.message).toContain(variant === 'input' ? 'Step 1' : 'type llm, not tool');
      expect(ran).toEqual(first.map(([, input]) => input));
      expect(await scene.answers(requestId)).toEqual(['sent', 'sent']);
      expect(outline(await scene.steps(requestId))).toEqual(outline(before));
    }
  });

  test('TRN-9: the order of keys is no other input; with match: type the stored input is the one to run with', async () => {
    const inputs: Json[] = [];
    const worker = assistant('worker', async (ctx) => {
      const isFirst = ctx.turn.attempt === 1;
      await ctx.step('tool', isFirst ? { a: 1, b: { c: 2, d: undefined } } : { b: { c: 2 }, a: 1 }, () => null);
      const keep = (input: Json): null => {
        inputs.push(input);
        failsIn(ctx, 1);
        return null;
      };
      await ctx.step('llm', { attempt: ctx.turn.attempt }, keep, { match: 'type' });
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    await turn;
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed' });
    expect(inputs).toEqual([{ attempt: 1 }, { attempt: 1 }]);
  });

  test('TRN-9: two levels down: the grandchild goes on, then the child, then the root', async () => {
    const ran: string[] = [];
    let hang = true;
    const level = (assistantId: string, next: string | null): Assistant =>
      assistant(assistantId, async (ctx) => {
        await ctx.step('tool', 'before', async () => {
          ran.push(`${assistantId} before`);
          await ctx.send(`${assistantId}<`);
        });
        const inner = next
          ? await ctx.delegate(next, 'go on')
          : await ctx.step('llm', null, async () => {
              ran.push(`${assistantId} llm`);
              await ctx.send('leaf');
              if (hang) await forever();
              return 'deep';
            });
        await ctx.step('tool', 'after', async () => {
          ran.push(`${assistantId} after`);
          await ctx.send(`>${assistantId}`);
        });
        return `${assistantId}(${inner as string})`;
      });
    let output: Json = null;
    const root = assistant('root', async (ctx) => {
      output = await ctx.delegate('a', ctx.input);
    });
    const scene = await host([root, level('a', 'b'), level('b', 'c'), level('c', null)]);
    const { requestId } = await scene.start('root', 'go');
    await scene.shows('a<b<c<leaf');
    await scene.stop(requestId);
    expect(outline(await scene.steps(requestId)).filter(([, status]) => status !== 'completed')).toEqual([
      ['delegate', 'running', expect.anything()],
      ['delegate', 'running', expect.anything()],
      ['delegate', 'running', expect.anything()],
      ['llm', 'interrupted', null],
    ]);
    const stacks = (await scene.steps(requestId)).map(({ stackId, stackDepth }) => [stackId, stackDepth]);
    hang = false;
    ran.length = 0;
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(ran).toEqual(['c llm', 'c after', 'b after', 'a after']);
    expect(output).toBe('a(b(c(deep)))');
    expect((await scene.answers(requestId)).join('')).toBe('a<b<c<leaf>c>b>a');
    const after = await scene.steps(requestId);
    expect(after.slice(0, stacks.length).map(({ stackId, stackDepth }) => [stackId, stackDepth])).toEqual(stacks);
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['completed']));
  });

  test('TRN-9: parallel delegates that were both interrupted both go on; one that had completed does not', async () => {
    const ran: string[] = [];
    let hang = true;
    const child = assistant('child', async (ctx) => {
      const name = asked(ctx);
      await ctx.step('input', name, () => void ran.push(`${name} input`));
      return ctx.step('llm', name, async () => {
        ran.push(`${name} llm`);
        await ctx.send(`[${name}]`);
        if (hang && name !== 'quick') await forever();
        return name;
      });
    });
    let output: Json = null;
    const root = assistant('root', async (ctx) => {
      const names = ['left', 'quick', 'right'];
      output = await Promise.all(names.map((name) => ctx.delegate('child', name)));
    });
    const scene = await host([root, child]);
    const { requestId } = await scene.start('root', 'go');
    await until(() => ran.filter((what) => what.endsWith('llm')).length === 3, 'all three');
    await until(
      async () => (await scene.steps(requestId)).filter(({ status }) => status === 'running').length === 4,
      'two that hang',
    );
    await scene.stop(requestId);
    hang = false;
    ran.length = 0;
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(ran.sort()).toEqual(['left llm', 'right llm']);
    expect(output).toEqual(['left', 'quick', 'right']);
    expect((await scene.answers(requestId)).sort()).toEqual(['[left]', '[quick]', '[right]']);
  });

  test('TRN-9: a call that has answered is not asked again, and neither are those that callAny and callRace left behind', async () => {
    const heard: string[] = [];
    const child = assistant('child', async (ctx) => {
      const name = asked(ctx);
      heard.push(name);
      await ctx.send(`said ${name}`);
      if (name === 'slow') await forever();
      if (name === 'bad') throw new Error('bad');
      return name;
    });
    const answers: unknown[] = [];
    const root = assistant('root', async (ctx) => {
      const to = (...names: string[]) => names.map((messages) => ({ assistantId: 'child', messages }));
      answers.push([
        await ctx.call('child', 'alone'),
        await ctx.callAll(to('a', 'b')),
        await ctx.callAny(to('bad', 'slow', 'good')),
        await ctx.callRace(to('slow', 'fast')),
      ]);
      await ctx.step('hook_next', null, () => failsIn(ctx, 1));
    });
    const scene = await host([root, child]);
    const { requestId, turn } = await scene.start('root', 'go');
    await turn;
    expect(heard.sort()).toEqual(['a', 'alone', 'b', 'bad', 'fast', 'good', 'slow', 'slow']);
    expect((await scene.resume(requestId)).status).toBe('completed');
    expect(heard).toHaveLength(8);
    expect(answers[1]).toEqual(answers[0]);
    expect(await scene.messages(requestId)).toEqual([]);
  });

  test('TRN-9: a callAny that was cut off asks again, under the stacks that it had', async () => {
    const heard: string[] = [];
    const child = assistant('child', async (ctx) => {
      heard.push(asked(ctx));
      if (asked(ctx) === 'bad') throw new Error('bad');
      if (ctx.turn.attempt === 1) await forever();
      return asked(ctx);
    });
    let output: Json = null;
    const root = assistant('root', async (ctx) => {
      const answer = await ctx.callAny(['bad', 'good'].map((messages) => ({ assistantId: 'child', messages })));
      ({ output } = answer);
    });
    const scene = await host([root, child]);
    const { requestId } = await scene.start('root', 'go');
    await until(async () => (await scene.steps(requestId)).some(({ status }) => status === 'failed'), 'the bad one');
    await until(() => heard.length === 2, 'both');
    await scene.stop(requestId);
    const before = (await scene.steps(requestId)).map(({ stepId, stackId }) => [stepId, stackId]);
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', error: null });
    expect([output, heard.slice(2).includes('good')]).toEqual(['good', true]);
    expect((await scene.steps(requestId)).map(({ stepId, stackId }) => [stepId, stackId])).toEqual(before);
  });

  test('TRN-9: the space goes on as it was when the incomplete step began; what was written before is not written twice', async () => {
    const seen: Json[] = [];
    const worker = assistant('worker', async (ctx) => {
      await ctx.space.set('visits', Number(ctx.space.get('visits') ?? 0) + 1);
      await ctx.step('tool', 'first', () => ctx.space.set('first', 'done'));
      await ctx.space.delete('first');
      await ctx.space.set('first', `${ctx.space.get('visits') as number}`);
      await ctx.step('tool', 'second', async () => {
        seen.push(ctx.space.snapshot());
        await ctx.space.set('lost', true);
        failsIn(ctx, 1, 2);
      });
      seen.push(ctx.space.snapshot());
    });
    const scene = await host([worker]);
    const { requestId, turn } = await scene.start('worker', 'go');
    await turn;
    await scene.resume(requestId);
    await scene.resume(requestId);
    const space = { visits: 1, first: '1' };
    expect(seen).toEqual([space, space, space, { ...space, lost: true }]);
    const steps = await scene.steps(requestId);
    expect(steps.map(({ spaceSnapshot }) => spaceSnapshot)).toEqual([{ visits: 1 }, space]);
  });
});
