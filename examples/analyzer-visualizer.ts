// One assistant hands over to another within a turn, and a turn that was cut off goes on where it was. It needs no model:
// in the place of a model call stands a step that streams words of its own.
//
//     DRAIN_MS=0 ASSISTANTS=examples/analyzer-visualizer.ts npx tsx tools/start.mjs
//     npx turnstream say report "3 1 4 1 5 9 2 6" --assistant analyzer
//
// Stop the server with Ctrl-C while it draws; without DRAIN_MS=0 it would let the turn come to its end first. Start it
// again, look for the turn's requestId, and resume it:
//
//     curl -s http://127.0.0.1:3000/v1/chats/report/turns
//     curl -s -X POST http://127.0.0.1:3000/v1/turns/REQUEST_ID/resume
//     npx turnstream tail report
//
// The numbers are not analyzed again: only the step of the visualizer that was cut off runs anew.
import { defineAssistant, type Context } from 'turnstream/assistant';

const DELAY_MS = 300;
const WIDTH = 20;

/** What was asked. Only what is the same in every attempt: a called assistant's input gets new ids each time. */
const heard = (ctx: Context) => ctx.input.map(({ type, props }) => ({ type, props }));

function numbersIn(ctx: Context): number[] {
  const texts = ctx.input.map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : ''));
  return (texts.join(' ').match(/\d+/g) ?? []).map(Number);
}

/** Stands for a model call: shows the pieces one by one. What it gives is recorded. */
function speak(ctx: Context, pieces: () => string[]): Promise<{ content: string }> {
  return ctx.step('llm', { messages: heard(ctx) }, async () => {
    const said = pieces();
    const messageId = await ctx.send('');
    for (const piece of said) {
      await ctx.wait(DELAY_MS);
      await ctx.append(messageId, piece);
    }
    await ctx.end(messageId);
    return { content: said.join('') };
  });
}

const analyzer = defineAssistant({
  assistantId: 'analyzer',
  name: 'Analyzer',
  async run(ctx) {
    const numbers = numbersIn(ctx);
    await ctx.step('input', { messages: heard(ctx) }, () => null);
    const sum = numbers.reduce((total, number) => total + number, 0);
    await speak(ctx, () => [`${numbers.length} numbers, `, `${sum} in all.`]);
    await ctx.space.set('largest', Math.max(1, ...numbers));
    return ctx.delegate('visualizer', ctx.input);
  },
});

const visualizer = defineAssistant({
  assistantId: 'visualizer',
  name: 'Visualizer',
  async run(ctx) {
    await ctx.step('input', { messages: heard(ctx) }, () => null);
    return speak(ctx, () => {
      // Within the step: here the space is what it was when the step first began.
      const largest = Number(ctx.space.get('largest'));
      return numbersIn(ctx).map((number) => `${'█'.repeat(Math.round((number / largest) * WIDTH))} ${number}\n`);
    });
  },
});

export default [analyzer, visualizer];
