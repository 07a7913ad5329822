import { builtAgent } from '../subjects/built.js';
import { sayInSteps } from './steps.js';
import { answerCommands, subjectOptions } from '../subjects/child.js';

/** A remote agent in a process of its own, as the SDK makes it: it says word by word what it was asked. */

const { url } = subjectOptions<{ url: string }>();
const { attachAgent, defineAssistant } = await builtAgent();

const agent = attachAgent({
  url,
  agentId: 'bench-agent',
  auth: { userId: 'agent', roles: ['agent'] },
  concurrency: 100,
  assistants: [
    defineAssistant({
      assistantId: 'remote-echo',
      async run(ctx) {
        const asked = ctx.input[0]?.props['content'];
        const text = typeof asked === 'string' ? asked : '';
        const messageId = await ctx.send('');
        for (const word of text.match(/\s*\S+/g) ?? []) await ctx.append(messageId, word);
        await ctx.end(messageId);
      },
    }),
    defineAssistant({ assistantId: 'remote-steps', run: sayInSteps }),
  ],
});
while (!agent.state.getSnapshot().attached) await new Promise((resolve) => setTimeout(resolve, 5));

answerCommands(0, {});
