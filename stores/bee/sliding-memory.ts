import type { BeeMessage } from './framework.js';
import type { MemoryOptions } from './options.js';
import { ruledMemory } from './ruled-memory.js';
import { SlidingRule, type SlidingSelector } from './sliding-rule.js';
import type { MemoryPorts } from './stored-memory.js';

export interface SlidingOptions<M> extends MemoryOptions {
  /** The most messages. */
  readonly size: number;
  readonly handlers?: { readonly removalSelector?: SlidingSelector<M> | undefined } | undefined;
}

/** The class of memories that hold the last messages, or those that a selector leaves. */
export function slidingMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  return class TurnstreamSlidingMemory extends ruledMemory(ports)<SlidingOptions<M>, SlidingRule<M>> {
    get kind() {
      return 'sliding' as const;
    }

    partOf({ size, handlers }: SlidingOptions<M>): SlidingRule<M> {
      return new SlidingRule(ports.framework.MemoryFatalError, size, handlers?.removalSelector);
    }

    settingsOf({ size }: SlidingOptions<M>): Record<string, number> {
      return { size };
    }

    needsOf({ handlers }: SlidingOptions<M>): string[] {
      return handlers?.removalSelector ? ['handlers.removalSelector'] : [];
    }

    withNeeds(options: MemoryOptions & Record<string, unknown>, given: SlidingOptions<M> | undefined) {
      return { ...options, size: Number(options['size']), handlers: given?.handlers };
    }
  };
}
