import type { Assistant } from '../../assistant/index.js';

/** Steps that the words of one answer are spread over. */
const STEPS = 10;

/** Says word by word what it was asked, as `echo` does, within ten recorded steps: what recording costs. */
export const sayInSteps: Assistant['run'] = async (ctx) => {
  const asked = ctx.input[0]?.props['content'];
  const words = (typeof asked === 'string' ? asked : '').match(/\s*\S+/g) ?? [];
  const messageId = await ctx.send('');
  const perStep = Math.ceil(words.length / STEPS);
  for (let at = 0; at < words.length; at += perStep) {
    const own = words.slice(at, at + perStep);
    await ctx.step('llm', { words: own }, async () => {
      for (const word of own) await ctx.append(messageId, word);
      return { content: own.join('') };
    });
  }
  await ctx.end(messageId);
};
