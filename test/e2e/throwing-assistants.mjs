// Assistants for a server process (assistants-uncaught.test.ts) that throw where no promise leads to their run.
import { defineAssistant } from 'turnstream/assistant';

const throwSoon = (words) =>
  setTimeout(() => {
    throw new Error(words);
  }, 1);

export default [
  defineAssistant({
    assistantId: 'thrower',
    async run(ctx) {
      await ctx.send('Before it.');
      throwSoon('thrown in a timer');
      await new Promise(() => undefined);
    },
  }),
  defineAssistant({
    assistantId: 'late',
    async run(ctx) {
      await ctx.send('Done.');
      await ctx.step('tool', null, () => void throwSoon('thrown after the end'));
    },
  }),
  defineAssistant({
    assistantId: 'rejecter',
    async run(ctx) {
      void Promise.reject(new Error('rejected for nobody'));
      await ctx.send('All the same.');
    },
  }),
];
