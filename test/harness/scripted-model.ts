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
      const parts = partsOf(script(prompt, ++calls));
      return {
        stream: new ReadableStream<Part>(
          {
            start(controller) {
              abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason));
            },
            // One at a time: an error would take back what is said and not heard yet.
            async pull(controller) {
              const { done, value } = await parts.next();
              if (done) controller.close();
              else controller.enqueue(value);
            },
          },
          { highWaterMark: 0 },
        ),
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

async function* partsOf(says: readonly Say[]): AsyncGenerator<Part, void, undefined> {
  for (const [index, say] of says.entries()) {
    const id = String(index);
    if (typeof say === 'function') await say();
    else if (typeof say === 'string') {
      yield { type: 'text-start', id };
      for (const delta of say.split(/(?<= )/)) yield { type: 'text-delta', id, delta };
      yield { type: 'text-end', id };
    } else if ('thinking' in say) {
      yield { type: 'reasoning-start', id };
      yield { type: 'reasoning-delta', id, delta: say.thinking };
      yield { type: 'reasoning-end', id };
    } else yield { type: 'tool-call', toolCallId: say.id, toolName: say.call, input: JSON.stringify(say.input) };
  }
  const unified = says.some((say) => typeof say === 'object' && 'call' in say) ? 'tool-calls' : 'stop';
  yield { type: 'finish', usage: USAGE, finishReason: { unified, raw: unified } };
}
