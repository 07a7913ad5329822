import type { BeeMessage } from './framework.js';
import type { MemoryOptions } from './options.js';
import { ruledMemory } from './ruled-memory.js';
import { inserted, type Rule } from './rule.js';
import type { MemoryPorts } from './stored-memory.js';

/** The class of memories that hold everything. */
export function unconstrainedMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  const everything: Rule<M> = {
    admit: (row, index, rows) => inserted(rows, row, index),
    window: (rows) => ({ rows, behind: [] }),
  };

  return class TurnstreamUnconstrainedMemory extends ruledMemory(ports)<MemoryOptions, Rule<M>> {
    get kind() {
      return 'unconstrained' as const;
    }

    partOf(): Rule<M> {
      return everything;
    }

    settingsOf(): Record<string, number> {
      return {};
    }

    needsOf(): string[] {
      return [];
    }

    withNeeds(options: MemoryOptions): MemoryOptions {
      return options;
    }
  };
}
