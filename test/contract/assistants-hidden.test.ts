import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { Deferred } from '../../server/session/deferred.js';
import { Person } from '../harness/person.js';
import { textOf } from '../harness/sdk.js';
import { hosts } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';

describe.each(hosts)('$name', ({ host }) => {
  test('TRN-9: a hidden call that was cut off answers with what its completed steps had sent, and shows nobody', async () => {
    let hang = true;
    const hanging = new Deferred<void>();
    const asker = defineAssistant({
      assistantId: 'asker',
      async run(ctx) {
        const { messages } = await ctx.call('hidden', 'go');
        await ctx.step('llm', null, () => ctx.send(messages.map(textOf).join(', ')));
      },
    });
    const hidden = defineAssistant({
      assistantId: 'hidden',
      async run(ctx) {
        await ctx.step('llm', 1, () => ctx.send('first secret'));
        await ctx.delegate('below', 'go');
        await ctx.step('llm', 2, async () => {
          await ctx.send('third secret');
          if (hang) {
            hanging.resolve();
            await forever();
          }
        });
      },
    });
    const below = defineAssistant({
      assistantId: 'below',
      run: (ctx) => ctx.step('tool', null, () => ctx.send('second secret')),
    });
    const scene = await host([asker, hidden, below]);
    const watcher = await new Person(scene.url).open();
    const { events } = await watcher.follow(scene.chatId);
    const { requestId } = await scene.start('asker', 'ask');
    await hanging.promise;
    await scene.stop(requestId);
    hang = false;
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', error: null });
    expect(await scene.answers(requestId)).toEqual(['first secret, second secret, third secret']);
    // All of it stands in the one answer; of the hidden ones there is nothing, in no step either.
    const telling = events.filter((event) => JSON.stringify(event).includes('secret'));
    expect(telling.map(({ type }) => type)).toEqual(['message.created']);
    expect(events.some(({ type }) => type === 'step.ended')).toBe(true);
    watcher.close();
  });
});
