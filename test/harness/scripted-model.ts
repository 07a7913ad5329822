import { MockLanguageModelV4 } from 'ai/test';

/** Something that a model does in the course of one answer, in order. */
export type Say =
  /** Text, one delta per word. */
  | string
  | { readonly thinking: string }
  | { readonly call: string; readonly id: string; readonly input: unknown }
  /** Test code within the stream: it may wait, hang or throw, which breaks the stream off. */
  | (() => unknown);

type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Part = Stream extends ReadableStream<infer P> ? P : never;
type Asked = MockLanguageModelV4['doStreamCalls'][number];

/** What each answer of a {@link scripted} model costs. */
export const COST = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** The AI SDK's mock model, which says what the script says to a prompt. What it was asked stands in `doStreamCalls`. */
export function scripted(script: (prompt: Asked['prompt'], call: number) => readonly Say[]): MockLanguageModelV4 {
  let calls = 0;
  return new MockLanguageModelV4({
    doStream: async ({ prompt, abortSignal }) => {
      const says = script(prompt, ++calls);
      return {
        stream: new ReadableStream<Part>({
          async start(controller) {
            abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason));
            try {
              for (const [index, say] of says.entries()) {
                if (typeof say === 'function') await say();
                else for (const part of partsOf(say, String(index))) controller.enqueue(part);
              }
              const unified = says.some((say) => typeof say === 'object' && 'call' in say) ? 'tool-calls' : 'stop';
              controller.enqueue({ type: 'finish', usage: USAGE, finishReason: { unified, raw: unified } });
              controller.close();
            } catch (error) {
              controller.error(error);
            }
          },
        }),
      };
    },
  });
}

/** A model that gives these answers, one per call. */
export const answering = (...answers: readonly (readonly Say[])[]): MockLanguageModelV4 =>
  scripted((_, call) => answers[call - 1] ?? [`no answer was told for call ${call}`]);

/** What a model was given, short: `role: text`, calls and results as JSON. */
export const heard = (prompt: Asked['prompt']): string[] =>
  prompt.map(({ role, content }) => {
    if (typeof content === 'string') return `${role}: ${content}`;
    const parts = content.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'tool-call') return `${part.toolCallId}=${part.toolName}(${JSON.stringify(part.input)})`;
      if (part.type === 'tool-result') return `${part.toolCallId}:${JSON.stringify(part.output)}`;
      return part.type;
    });
    return `${role}: ${parts.join(' | ')}`;
  });

function partsOf(say: Exclude<Say, () => unknown>, id: string): Part[] {
  if (typeof say === 'string') {
    const words = say.split(/(?<= )/).map((delta): Part => ({ type: 'text-delta', id, delta }));
    return [{ type: 'text-start', id }, ...words, { type: 'text-end', id }];
  }
  if ('thinking' in say) {
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: say.thinking },
      { type: 'reasoning-end', id },
    ];
  }
  return [{ type: 'tool-call', toolCallId: say.id, toolName: say.call, input: JSON.stringify(say.input) }];
}
