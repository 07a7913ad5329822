import type { BeeMessage, SummaryTemplate } from './framework.js';
import type { MemoryOptions } from './options.js';
import { storedMemory, type MemoryPorts } from './stored-memory.js';
import { Summary, SUMMARY } from './summary.js';

export interface SummarizeOptions<L> extends MemoryOptions {
  readonly llm: L;
  /** Default: that of the framework. */
  readonly template?: SummaryTemplate | undefined;
}

/** The class of memories that hold one message: the summary of all. */
export function summarizeMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  return class TurnstreamSummarizeMemory extends storedMemory(ports)<SummarizeOptions<L>, Summary<M, L>> {
    get kind() {
      return 'summarize' as const;
    }

    /**
     * Takes the message into the summary: one call of the model, after those before it. People see the summary change.
     *
     * @throws what the model throws; the summary stays
     */
    add(message: M): Promise<void> {
      return this.mirror.rewrite((row) => this.part.next(row?.message.text ?? '', message));
    }

    /** A summary has no messages to delete. @returns false */
    async delete(_message: M): Promise<boolean> {
      return false;
    }

    override mark() {
      return SUMMARY;
    }

    partOf({ llm, template = ports.framework.summaryTemplate }: SummarizeOptions<L>): Summary<M, L> {
      return new Summary(ports.framework, llm, template);
    }

    settingsOf(): Record<string, number> {
      return {};
    }

    needsOf({ llm, template }: SummarizeOptions<L>): string[] {
      return [...(llm === undefined ? [] : ['llm']), ...(template ? ['template'] : [])];
    }

    withNeeds(options: MemoryOptions, given: SummarizeOptions<L> | undefined): SummarizeOptions<L> {
      // Without a model `needs` of the snapshot names it, and loading is refused.
      return { ...options, llm: given?.llm as L, template: given?.template };
    }
  };
}
