import { describe, expect, test } from 'vitest';
import { defineAssistant, type Context } from '../../assistant/index.js';
import type { Turn } from '../../protocol/index.js';
import { hosts } from './assistant-hosts.js';

/** What the fuzz of assistants has found (test/fuzz/assistants.test.ts), made small. */

describe.each(hosts)('$name', ({ host }) => {
  /** Runs an assistant that throws where `trouble` is called in the first attempt, and resumes it once. */
  async function resumed(run: (ctx: Context, trouble: () => void) => Promise<unknown>): Promise<unknown> {
    let output: unknown;
    const bot = defineAssistant({
      assistantId: 'bot',
      async run(ctx) {
        output = await run(ctx, () => {
          if (ctx.turn.attempt === 1) throw new Error('cut off');
        });
      },
    });
    const scene = await host([bot]);
    const { requestId, turn } = await scene.start('bot', 'go');
    expect(await turn).toMatchObject({ status: 'failed', error: { message: 'cut off' } });
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed' });
    return output;
  }

  test('TRN-9: what a completed step wrote to the space is there, though no step began after it', async () => {
    const output = await resumed(async (ctx, trouble) => {
      await ctx.step('tool', 'write', async () => ctx.space.set('key', 'written'));
      trouble();
      return ctx.step('tool', 'read', () => ctx.space.get('key') ?? null);
    });
    expect(output).toBe('written');
  });

  test('TRN-9: so it is where the step that is cut off is around it', async () => {
    const output = await resumed((ctx, trouble) =>
      ctx.step('tool', 'around', async () => {
        await ctx.step('tool', 'write', async () => ctx.space.set('key', 'written'));
        trouble();
        return ctx.step('tool', 'read', () => ctx.space.get('key') ?? null);
      }),
    );
    expect(output).toBe('written');
  });

  test('TRN-9: and where the step that is cut off began beside it', async () => {
    const output = await resumed(async (ctx, trouble) => {
      let write = (): void => undefined;
      const begun = new Promise<void>((resolve) => (write = resolve));
      let fail = (): void => undefined;
      const written = new Promise<void>((resolve) => (fail = resolve));
      await Promise.all([
        ctx
          .step('tool', 'write', async () => {
            await begun;
            await ctx.space.set('key', 'written');
          })
          .then(() => fail()),
        ctx.step('tool', 'cut', async () => {
          write();
          await written;
          trouble();
        }),
      ]);
      return ctx.step('tool', 'read', () => ctx.space.get('key') ?? null);
    });
    expect(output).toBe('written');
  });

  /** One asks the other, which is cut off in the first attempt. */
  async function asked(
    run: (ctx: Context, trouble: () => void) => Promise<void>,
    caller: (ctx: Context) => Promise<unknown>,
  ): Promise<{ turn: Turn; answers: string[] }> {
    const trouble = (ctx: Context) => () => {
      if (ctx.turn.attempt === 1) throw new Error('cut off');
    };
    const asker = defineAssistant({ assistantId: 'asker', run: async (ctx) => void (await caller(ctx)) });
    const other = defineAssistant({ assistantId: 'other', run: (ctx) => run(ctx, trouble(ctx)) });
    const scene = await host([asker, other]);
    const { requestId, turn } = await scene.start('asker', 'go');
    expect(await turn).toMatchObject({ status: 'failed' });
    const last = await scene.resume(requestId);
    return { turn: last, answers: await scene.answers(requestId) };
  }

  test('TRN-9: what an assistant that was called said before its first step does not stand twice', async () => {
    const { turn, answers } = await asked(
      async (ctx, trouble) => {
        const id = await ctx.send('Hello');
        trouble();
        await ctx.append(id, ', you');
        await ctx.send('Bye');
      },
      (ctx) => ctx.delegate('other', 'go'),
    );
    expect(turn).toMatchObject({ status: 'completed' });
    expect(answers).toEqual(['Hello, you', 'Bye']);
  });

  test('DAT-1: a character that comes in halves is whole where its message takes the place of one that stood', async () => {
    const { answers } = await asked(
      async (ctx, trouble) => {
        const id = await ctx.send('one ');
        trouble();
        for (const unit of '\u{1f600}!'.split('')) await ctx.append(id, unit);
      },
      (ctx) => ctx.delegate('other', 'go'),
    );
    expect(answers).toEqual(['one \u{1f600}!']);
  });

  test('TRN-9: the tokens of what a completed step called are counted once, in every attempt', async () => {
    const { turn } = await asked(
      async (ctx, trouble) => {
        await ctx.step('tool', 'outer', () =>
          ctx.step('tool', 'inner', () => {
            ctx.addUsage({ totalTokens: 5 });
          }),
        );
        trouble();
        ctx.addUsage({ totalTokens: 2 });
      },
      (ctx) => ctx.step('tool', null, () => ctx.delegate('other', 'go')),
    );
    expect(turn).toMatchObject({ status: 'completed', usage: { totalTokens: 7 } });
  });
});
