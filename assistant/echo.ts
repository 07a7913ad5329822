import { defineAssistant, type Assistant } from './assistant.js';

const DEFAULT_DELAY_MS = 20;
const MAX_DELAY_MS = 60_000;

/**
 * Streams each input text back word by word, one append per word, with `delayMs` of the turn's metadata between words:
 * the main job, to be seen without a key.
 */
export const echo: Assistant = defineAssistant({
  assistantId: 'echo',
  name: 'Echo',
  async run(ctx) {
    const delayMs = delayOf(ctx.metadata['delayMs']);
    for (const { props } of ctx.input) {
      const text = typeof props['content'] === 'string' ? props['content'] : JSON.stringify(props);
      const messageId = await ctx.send('');
      for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
        if (delayMs > 0) await ctx.wait(delayMs);
        await ctx.append(messageId, word);
      }
      await ctx.end(messageId);
    }
  },
});

function delayOf(asked: unknown): number {
  return typeof asked === 'number' && asked >= 0 ? Math.min(asked, MAX_DELAY_MS) : DEFAULT_DELAY_MS;
}
