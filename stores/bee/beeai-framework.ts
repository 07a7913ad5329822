import type { BeeFramework, BeeMessage, FatalError, SummaryTemplate } from './framework.js';

interface BeeaiMessage extends BeeMessage {
  readonly id: string | undefined;
  readonly content: readonly object[];
  readonly meta: Readonly<Record<string, unknown>>;
}

// A constructor's parameters are compared strictly, and each class takes parts of its own kinds: the framework checks them.
type MessageClass = new (content: never, meta?: never, id?: string) => BeeaiMessage;

interface BeeaiModel<M> {
  create(input: { messages: M[] }): PromiseLike<{ getTextContent(): string }>;
}

/** Classes of `beeai-framework`: `memory/base`, `memory/summarizeMemory` and `backend/message`. */
export interface BeeaiClasses<M extends BeeaiMessage, B extends object> {
  readonly BaseMemory: abstract new () => B;
  readonly MemoryFatalError: FatalError;
  readonly SummarizeMemoryTemplate: SummaryTemplate;
  /** What the others extend. */
  readonly Message: abstract new (content: never, meta?: never, id?: string) => M;
  readonly UserMessage: MessageClass;
  readonly AssistantMessage: MessageClass;
  readonly SystemMessage: MessageClass;
  readonly ToolMessage: MessageClass;
  readonly CustomMessage: new (role: string, content: never, meta?: never, id?: string) => BeeaiMessage;
}

const DEFAULT_MAX_TOKENS = 128_000;

/** The present generation. */
export function beeaiFramework<M extends BeeaiMessage, B extends object>(
  classes: BeeaiClasses<M, B>,
): BeeFramework<M, B, BeeaiModel<M>> {
  const { BaseMemory, MemoryFatalError, SummarizeMemoryTemplate } = classes;
  // Each of them makes a message of the framework, of what a message of the framework was made of.
  type Maker = new (...values: unknown[]) => M;
  const Custom = classes.CustomMessage as unknown as Maker;
  const byRole = new Map(
    Object.entries({
      user: classes.UserMessage,
      assistant: classes.AssistantMessage,
      system: classes.SystemMessage,
      tool: classes.ToolMessage,
    }).map(([role, Class]) => [role, Class as unknown as Maker]),
  );
  return {
    BaseMemory,
    MemoryFatalError,
    plainOf: ({ role, text, id, content, meta }) => ({
      role,
      text,
      id,
      parts: isText(content) ? undefined : [...content],
      meta,
    }),
    messageFrom: ({ role, text, id, parts, meta }) => {
      // A text alone is no result of a tool.
      const Class = role === 'tool' && !parts ? undefined : byRole.get(role);
      const values = [parts ?? text, { ...meta }, id];
      return Class ? new Class(...values) : new Custom(role, ...values);
    },
    maxTokens: () => DEFAULT_MAX_TOKENS,
    countTokens: async (message, { tokenize }) => (tokenize ? tokenize([message]) : Math.ceil(message.text.length / 4)),
    summaryTemplate: SummarizeMemoryTemplate,
    generate: async (llm, messages) => (await llm.create({ messages })).getTextContent(),
    clonesLater: true,
  };
}

/** Whether the content is one text and nothing more. */
function isText(content: readonly object[]): boolean {
  const [part, ...others] = content;
  const isTextPart = !!part && 'type' in part && part.type === 'text';
  return isTextPart && others.length === 0 && Object.keys(part).length === 2;
}
