import type { BeeFramework, BeeMessage, FatalError, SummaryTemplate } from './framework.js';

interface BeeAgentMessage extends BeeMessage {
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

interface BeeAgentModel<M> {
  readonly meta?: () => PromiseLike<{ tokenLimit?: number | null | undefined }>;
  readonly tokenize?: (messages: M[]) => PromiseLike<{ tokensCount: number }>;
  readonly generate?: (messages: M[]) => PromiseLike<{ getTextContent(): string }>;
}

/** Classes of `bee-agent-framework`: `memory/base`, `memory/summarizeMemory` and `llms/primitives/message`. */
export interface BeeAgentClasses<M extends BeeAgentMessage, B extends object> {
  readonly BaseMemory: abstract new () => B;
  readonly MemoryFatalError: FatalError;
  readonly SummarizeMemoryTemplate: SummaryTemplate;
  readonly BaseMessage: { of(input: { role: string; text: string; meta?: Record<string, unknown> }): M };
}

/** The generation before it, whose interface the seed document shows. */
export function beeAgentFramework<M extends BeeAgentMessage, B extends object>(
  classes: BeeAgentClasses<M, B>,
): BeeFramework<M, B, BeeAgentModel<M>> {
  const { BaseMemory, MemoryFatalError, SummarizeMemoryTemplate, BaseMessage } = classes;
  return {
    BaseMemory,
    MemoryFatalError,
    plainOf: ({ role, text, meta }) => ({ role, text, meta }),
    messageFrom: ({ role, text, meta }) => BaseMessage.of({ role, text, ...(meta ? { meta: { ...meta } } : {}) }),
    maxTokens: async ({ llm, capacityThreshold }) => {
      const limit = (await needed(llm?.meta, 'meta').call(llm)).tokenLimit;
      return Math.ceil((limit ?? Infinity) * capacityThreshold);
    },
    countTokens: async (message, { llm }) => (await needed(llm?.tokenize, 'tokenize').call(llm, [message])).tokensCount,
    summaryTemplate: SummarizeMemoryTemplate,
    generate: async (llm, messages) => (await needed(llm.generate, 'generate').call(llm, messages)).getTextContent(),
    clonesLater: false,
  };
}

function needed<F>(method: F | undefined, name: string): F {
  if (!method) throw new TypeError(`The memory needs an llm with the method ${name}.`);
  return method;
}
