// Assistants for processes that are killed (assistants-cold.test.ts): `boss` hands over to `clerk`, which has every stage.
// Each stage notes in COLD_DIR/effects that it ran, and hangs for ever where COLD_DIR/hangs names it. COLD_SERVES says
// which of them this process has. Run as a program with COLD_URL, it is an agent.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockLanguageModelV4 } from 'ai/test';
import { attachAgent } from 'turnstream/agent';
import { defineAssistant, tool } from 'turnstream/assistant';
import * as z from 'zod';

const { COLD_DIR = '.', COLD_SERVES = 'boss,clerk', COLD_URL, COLD_AGENT = 'cold-agent' } = process.env;

async function effect(stage) {
  appendFileSync(join(COLD_DIR, 'effects'), `${stage}\n`);
  const hangs = join(COLD_DIR, 'hangs');
  if (existsSync(hangs) && readFileSync(hangs, 'utf8') === stage) await new Promise(() => undefined);
}

/** A database may give the keys of what it has stored in an order of its own. */
const inOrder = ({ paid, for: whom }) => ({ paid, for: whom });

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** Says half of the text, then passes the stage, then the rest, and asks for tools. */
function answer(stage, text, calls = []) {
  const half = text.length / 2;
  async function* parts() {
    yield { type: 'text-start', id: 't' };
    yield { type: 'text-delta', id: 't', delta: text.slice(0, half) };
    await effect(stage);
    yield { type: 'text-delta', id: 't', delta: text.slice(half) };
    yield { type: 'text-end', id: 't' };
    for (const id of calls)
      yield { type: 'tool-call', toolCallId: id, toolName: 'pay', input: JSON.stringify({ to: id }) };
    const unified = calls.length > 0 ? 'tool-calls' : 'stop';
    yield { type: 'finish', usage, finishReason: { unified, raw: unified } };
  }
  return { stream: ReadableStream.from(parts()) };
}

const boss = defineAssistant({
  assistantId: 'boss',
  model: new MockLanguageModelV4({ doStream: async () => answer('boss llm', 'The clerk will do it.') }),
  async next(ctx) {
    await effect('boss next');
    await ctx.space.set('from', 'boss');
    return { delegate: { assistantId: 'clerk' } };
  },
});

const clerk = defineAssistant({
  assistantId: 'clerk',
  async create(ctx) {
    await effect('create');
    await ctx.send('One moment.');
  },
  model: new MockLanguageModelV4({
    doStream: async ({ prompt }) =>
      prompt.at(-1).role === 'tool'
        ? answer('llm 2', `Paid: ${JSON.stringify(prompt.at(-1).content.map(({ output }) => inOrder(output.value)))}`)
        : answer('llm 1', 'I pay both.', ['p1', 'p2']),
  }),
  tools: {
    pay: tool({
      inputSchema: z.object({ to: z.string() }),
      async execute({ to }, ctx, { toolCallId }) {
        const note = await ctx.send(`paying ${to}`);
        await effect(`tool ${toolCallId}`);
        await ctx.append(note, ', paid');
        return { paid: to, for: ctx.space.get('from') ?? 'nobody' };
      },
    }),
  },
  async next(ctx, { tools }) {
    await ctx.send('All');
    await effect('next');
    await ctx.send(' done.');
    return { data: tools.length };
  },
});

const assistants = [boss, clerk].filter(({ assistantId }) => COLD_SERVES.split(',').includes(assistantId));
export default assistants;

if (COLD_URL) attachAgent({ url: COLD_URL, agentId: COLD_AGENT, assistants });
