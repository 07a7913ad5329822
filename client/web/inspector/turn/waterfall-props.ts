import type { Step } from '../../../../protocol/index.js';
import type { TreeRow } from './step-tree.js';
import type { TimeScale } from './time-scale.js';
import type { TurnStory } from './turn-story.js';

export interface WaterfallProps {
  readonly rows: readonly TreeRow[];
  readonly steps: readonly Step[];
  readonly story: TurnStory;
  readonly scale: TimeScale;
  /** The time that is looked at; null: none. */
  readonly at: number | null;
  readonly now: number;
  /** The ids of those that are unfolded. */
  readonly open: ReadonlySet<string>;
  /** Looks at where a step began last; null: the log does not tell of it. */
  readonly finderOf: (stepId: string) => (() => void) | null;
  readonly onToggle: (id: string) => void;
}
