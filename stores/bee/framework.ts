/** What the memories need of the framework, whichever of its generations: its own classes, given from outside. */

/** A framework's message, as far as both generations have it in common. */
export interface BeeMessage {
  readonly role: string;
  readonly text: string;
}

/** A message without its class. */
export interface PlainMessage {
  readonly role: string;
  readonly text: string;
  readonly id?: string | undefined;
  /** What it is made of, where that is more than its text. */
  readonly parts?: readonly unknown[] | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What a TokenMemory counts with. */
export interface TokenSources<M, L> {
  readonly llm?: L | undefined;
  readonly capacityThreshold: number;
  readonly tokenize?: ((messages: M[]) => Promise<number>) | undefined;
}

export interface SummaryTemplate {
  render(input: { summary: string }): string;
}

/** What is thrown for what a memory cannot take. */
export type FatalError = new (
  message: string,
  errors?: Error[],
  options?: { context?: Record<string, unknown> },
) => Error;

/**
 * One generation of the framework. Use {@link import('./beeai-framework.js').beeaiFramework} or
 * {@link import('./bee-agent-framework.js').beeAgentFramework}, or say it yourself.
 *
 * @typeParam M its message, @typeParam B its BaseMemory, @typeParam L its model
 */
export interface BeeFramework<M extends BeeMessage, B extends object, L> {
  readonly BaseMemory: abstract new () => B;
  readonly MemoryFatalError: FatalError;
  plainOf(message: M): PlainMessage;
  /** @throws where the framework has no such message: then it is read as a plain text */
  messageFrom(plain: PlainMessage): M;
  /** The tokens of a TokenMemory that was given no maximum. */
  maxTokens(sources: TokenSources<M, L>): number | Promise<number>;
  countTokens(message: M, sources: TokenSources<M, L>): Promise<number>;
  readonly summaryTemplate: SummaryTemplate;
  generate(llm: L, messages: M[]): Promise<string>;
  /** Whether `clone` gives a promise. */
  readonly clonesLater: boolean;
}
