import type { BeeMessage } from './framework.js';
import type { MemoryOptions } from './options.js';
import { ruledMemory } from './ruled-memory.js';
import type { MemoryPorts } from './stored-memory.js';
import { TokenRule, type TokenHandlers } from './token-rule.js';

export interface TokenOptions<M, L> extends MemoryOptions {
  /** Counts, and says how much there is room for, with the seed's framework. */
  readonly llm?: L | undefined;
  /** Without it the framework says: the present generation 128,000. */
  readonly maxTokens?: number | undefined;
  /** The share of the model's limit that is used, with the seed's framework and without `maxTokens`. Default: 0.75. */
  readonly capacityThreshold?: number | undefined;
  /** The share of `maxTokens` from which on tokens are counted and not guessed. Default: 0.25. */
  readonly syncThreshold?: number | undefined;
  readonly handlers?: TokenHandlers<M> | undefined;
}

const NUMBERS = ['maxTokens', 'capacityThreshold', 'syncThreshold'] as const;
const HANDLERS = ['estimate', 'removalSelector', 'tokenize'] as const;

/** The class of memories that hold as much as there is room for. */
export function tokenMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  return class TurnstreamTokenMemory extends ruledMemory(ports)<TokenOptions<M, L>, TokenRule<M, L>> {
    get kind() {
      return 'token' as const;
    }

    get tokensUsed(): number {
      return this.part.used(this.mirror.rows);
    }

    /** Whether some of it is a guess. */
    get isDirty(): boolean {
      return this.part.isDirty(this.mirror.rows);
    }

    stats() {
      const { tokensUsed, isDirty } = this;
      return { tokensUsed, maxTokens: this.part.maxTokens, messagesCount: this.messages.length, isDirty };
    }

    /** Counts what is guessed. @throws {MemoryFatalError} for a message that cannot fit: all stay */
    sync(): Promise<void> {
      return this.change((rows) => this.part.synced(rows));
    }

    override reset(): void {
      this.part.forget(this.mirror.rows);
      super.reset();
    }

    override takeFrom(other: this): void {
      this.part.learn(other.part, other.messages);
      super.takeFrom(other);
    }

    partOf(options: TokenOptions<M, L>): TokenRule<M, L> {
      const { llm, maxTokens = null, capacityThreshold = 0.75, syncThreshold = 0.25, handlers = {} } = options;
      if (!(capacityThreshold > 0)) throw new TypeError('"capacityThreshold" must be a number in range (0, 1>');
      const { tokenize } = handlers;
      return new TokenRule(ports.framework, { llm, maxTokens, capacityThreshold, syncThreshold, handlers, tokenize });
    }

    settingsOf(options: TokenOptions<M, L>): Record<string, number> {
      return Object.fromEntries(
        NUMBERS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]] as const])),
      );
    }

    needsOf({ llm, handlers }: TokenOptions<M, L>): string[] {
      const given = HANDLERS.filter((name) => handlers?.[name]).map((name) => `handlers.${name}`);
      return llm === undefined ? given : ['llm', ...given];
    }

    withNeeds(options: MemoryOptions & Record<string, unknown>, given: TokenOptions<M, L> | undefined) {
      return { ...options, llm: given?.llm, handlers: given?.handlers };
    }
  };
}
