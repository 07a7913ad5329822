import type { JsonObject, Step } from '../../../../protocol/index.js';

export interface SpaceChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What became of the space between two steps, by key. */
export function spaceChanges(before: JsonObject | null, after: JsonObject | null): SpaceChanges {
  const old = before ?? {};
  const now = after ?? {};
  const was = (key: string): boolean => Object.hasOwn(old, key);
  return {
    added: Object.keys(now).filter((key) => !was(key)),
    changed: Object.keys(now).filter((key) => was(key) && JSON.stringify(old[key]) !== JSON.stringify(now[key])),
    removed: Object.keys(old).filter((key) => !Object.hasOwn(now, key)),
  };
}

/** The step that had begun just before a step: the space is one of the whole turn. */
export const stepBefore = (steps: readonly Step[], { sequence }: Step): Step | undefined =>
  steps.filter((step) => step.sequence < sequence).reduce<Step | undefined>(later, undefined);

const later = (a: Step | undefined, b: Step): Step => (a && a.sequence > b.sequence ? a : b);
