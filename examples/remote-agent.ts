// Serves the assistant `counter` from outside the server, and has `echo`, which runs inside it, say the answer:
//
//     npx tsx examples/remote-agent.ts
//     npx turnstream say sums "one two three" --assistant counter
import { attachAgent, defineAssistant } from 'turnstream/agent';

const counter = defineAssistant({
  assistantId: 'counter',
  async run(ctx) {
    const text = ctx.input.map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : '')).join(' ');
    // A step is done once, also where the turn is resumed.
    const count = await ctx.step('tool', { text }, () => text.split(/\s+/).filter(Boolean).length);
    await ctx.delegate('echo', `I count ${count} words.`);
    return { count };
  },
});

const url = process.env['TURNSTREAM_URL'] ?? 'http://127.0.0.1:3000';
const agent = attachAgent({ url, agentId: 'counter-1', assistants: [counter] });
agent.state.subscribe(() => console.log(agent.state.getSnapshot().attached ? 'attached' : 'not attached'));
process.once('SIGINT', () => void agent.close()); // what runs may come to its end
