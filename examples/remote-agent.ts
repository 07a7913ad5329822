// Serves the assistant `counter` from outside the server:
//
//     npx tsx examples/remote-agent.ts
//     npx turnstream say sums "one two three" --assistant counter
import { attachAgent, defineAssistant } from 'turnstream/agent';

const counter = defineAssistant({
  assistantId: 'counter',
  name: 'Word counter',
  async run(ctx) {
    const texts = ctx.input.map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : ''));
    const words = texts.join(' ').split(/\s+/).filter(Boolean);
    const messageId = await ctx.send('');
    for (const [index, word] of words.entries()) {
      if (ctx.abortSignal.aborted) return;
      await ctx.append(messageId, `${index + 1}. ${word}\n`);
    }
    await ctx.append(messageId, `${words.length} words.`);
    await ctx.end(messageId);
  },
});

const agent = attachAgent({
  url: process.env['TURNSTREAM_URL'] ?? 'http://127.0.0.1:3000',
  agentId: 'counter-1',
  assistants: [counter],
});

agent.state.subscribe(() => {
  const { attached, running } = agent.state.getSnapshot();
  console.log(attached ? `attached, ${running} running` : 'not attached');
});

// Lets what runs come to its end, then leaves.
process.once('SIGINT', () => void agent.close());
