// An assistant for the load test (nodes.test.ts): says so many numbered tokens, each at its moment, as a model does that
// takes its time. It is asked with JSON `{ first, tokens, perSecond }`. bench/load/turns-heard.ts checks what it has said.
const DIGITS = 7;

const microsNow = () => Number(process.hrtime.bigint() / 1000n);
const token = (lead, number) => lead + (number % 36 ** DIGITS).toString(36).padStart(DIGITS, '0');

export default {
  assistantId: 'pace',
  name: 'Pace',
  async run(ctx) {
    const { first, tokens, perSecond } = JSON.parse(ctx.input[0].props.content);
    const messageId = await ctx.send('');
    const began = microsNow();
    await ctx.append(messageId, token('#', began));
    for (let said = 0; said < tokens; said++) {
      const earlyMs = (began + (said * 1e6) / perSecond - microsNow()) / 1000;
      // One that is late says the next at once: appends wait for nothing but their turn.
      if (earlyMs > 0) await ctx.wait(Math.ceil(earlyMs));
      await ctx.append(messageId, token(' ', first + said));
    }
    await ctx.end(messageId);
  },
};
