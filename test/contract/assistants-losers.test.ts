import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { Deferred } from '../../server/session/deferred.js';
import { hosts } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';

describe.each(hosts)('$name', ({ host }) => {
  test('AGT-8: once callAny has its answer the other calls are ended, and nothing of them is run again', async () => {
    const told: string[] = [];
    const begun = new Deferred<void>();
    const asker = defineAssistant({
      assistantId: 'asker',
      async run(ctx) {
        const { assistantId, output } = await ctx.callAny([
          { assistantId: 'slow', messages: 'a' },
          { assistantId: 'quick', messages: 'b' },
        ]);
        await ctx.send(`${assistantId}: ${JSON.stringify(output)}`);
      },
    });
    const slow = defineAssistant({
      assistantId: 'slow',
      async run(ctx) {
        ctx.abortSignal.addEventListener('abort', () => told.push((ctx.abortSignal.reason as Error).message));
        await ctx.step('llm', null, () => {
          begun.resolve();
          return forever();
        });
      },
    });
    const quick = defineAssistant({ assistantId: 'quick', run: () => begun.promise.then(() => 'here') });
    const scene = await host([asker, slow, quick]);
    const turn = await scene.ask('asker', 'who is there?');
    expect(turn).toMatchObject({ status: 'completed', error: null });
    expect(await scene.answers(turn.requestId)).toEqual(['quick: "here"']);
    expect(told).toEqual([expect.stringContaining('not_wanted')]);
    const steps = await scene.steps(turn.requestId);
    expect(steps.map(({ type, status, assistantId }) => [type, status, assistantId])).toEqual([
      ['delegate', 'completed', 'asker'],
      ['delegate', 'failed', 'asker'],
      ['delegate', 'completed', 'asker'],
      ['llm', 'interrupted', 'slow'],
    ]);
    expect(steps[1]?.metadata).toMatchObject({ handled: true });
    await expect(scene.get(`/v1/chats/${scene.chatId}/incomplete-step`)).resolves.toEqual({ step: null });
  });
});
