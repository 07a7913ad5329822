import { MockLanguageModelV4 } from 'ai/test';
import { INJECTED, type Effects } from './effects.js';
import type { TreeAssistant } from './tree.js';

type Doing = ConstructorParameters<typeof MockLanguageModelV4>[0] & object;
type Stream = Extract<Doing['doStream'], (...args: never[]) => unknown>;
type Prompt = Parameters<Stream>[0]['prompt'];
type Part = Awaited<ReturnType<Stream>>['stream'] extends ReadableStream<infer P> ? P : never;

const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** A model that says and asks for what the tree says, by how far the conversation has come. */
export function mockModel(
  plan: Extract<TreeAssistant, { kind: 'pipeline' }>,
  { effects, attemptOf }: { readonly effects: Effects; readonly attemptOf: (path: string) => number },
): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doStream({ prompt }) {
      const asked = askedOf(prompt);
      const round = prompt.filter(({ role }) => role === 'tool').length;
      const path = `${asked}/llm${round}`;
      effects.run(path, attemptOf(asked));
      return { stream: streamOf(parts(plan, asked, round), () => effects.finish(path)) };
    },
  });
}

function askedOf(prompt: Prompt): string {
  const [part] = prompt.findLast(({ role }) => role === 'user')?.content ?? [];
  return typeof part === 'object' && part.type === 'text' ? part.text : '';
}

function parts(
  { rounds, thinks, words }: Extract<TreeAssistant, { kind: 'pipeline' }>,
  asked: string,
  round: number,
): Part[] {
  const calls = rounds[round] ?? [];
  const text = [`${asked}/llm${round} `, ...words];
  return [
    ...(thinks ? block('reasoning', [`${asked}/llm${round} `, ...words]) : []),
    ...block('text', text),
    ...calls.map(({ fails }, index): Part => {
      const path = `${asked}/r${round}|${index}${fails ? '/fails' : ''}`;
      return {
        type: 'tool-call',
        toolCallId: path.replaceAll(/[^\w-]/g, '_'),
        toolName: `t${round}-${index}`,
        input: JSON.stringify({ path }),
      };
    }),
    {
      type: 'finish',
      usage: USAGE,
      finishReason: calls.length > 0 ? { unified: 'tool-calls', raw: 'tool_calls' } : { unified: 'stop', raw: 'stop' },
    },
  ];
}

const block = (type: 'text' | 'reasoning', words: readonly string[]): Part[] => [
  { type: `${type}-start`, id: type },
  ...words.map((delta): Part => ({ type: `${type}-delta`, id: type, delta })),
  { type: `${type}-end`, id: type },
];

/** Gives one part at a time; before the last it may fail. */
function streamOf(parts: readonly Part[], finish: () => void): ReadableStream<Part> {
  let next = 0;
  return new ReadableStream<Part>({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const part = parts[next++];
      if (!part) return controller.close();
      if (next === parts.length) {
        try {
          finish();
        } catch (error) {
          return controller.error(error instanceof Error ? error : new Error(INJECTED));
        }
      }
      controller.enqueue(part);
    },
  });
}
