import {
  isIncomplete,
  type Assignment,
  type JsonObject,
  type Message,
  type ResumeStep,
  type Step,
} from '../../protocol/index.js';
import type { StepRecord } from '../ports/store.js';
import type { StackPlace } from './step-recorder.js';

/** TRN-9, the pure part: what of a turn's recorded steps runs again, and what that replaces. */

/** A failed step whose caller went on stands as it is. */
const isHandled = (step: Step): boolean => step.metadata?.['handled'] === true;

const mustRunAgain = (step: Step): boolean => isIncomplete(step) && !isHandled(step);

/**
 * The incomplete steps that have no incomplete child, deepest first. A child's stack belongs to the delegate step of its
 * parent stack that began before it; several delegate steps at once get their child stacks in order.
 */
export function leafSteps(steps: readonly Step[]): Step[] {
  const callers = callersOf(steps);
  const withIncompleteChild = new Set(
    steps.filter(mustRunAgain).flatMap((step) => {
      const caller = callers.get(step.stackId);
      return caller === undefined ? [] : [caller];
    }),
  );
  return steps
    .filter((step) => mustRunAgain(step) && !withIncompleteChild.has(step.stepId))
    .sort((a, b) => b.stackDepth - a.stackDepth || b.sequence - a.sequence);
}

/** stack id → the id of the delegate step that called it. */
function callersOf(steps: readonly Step[]): ReadonlyMap<string, string> {
  const callers = new Map<string, string>();
  const taken = new Set<string>();
  for (const child of [...steps].sort((a, b) => a.sequence - b.sequence)) {
    if (child.stackParentId === null || callers.has(child.stackId)) continue;
    const caller = steps
      .filter(
        (step) =>
          step.type === 'delegate' &&
          step.stackId === child.stackParentId &&
          step.sequence < child.sequence &&
          !taken.has(step.stepId),
      )
      .sort((a, b) => a.sequence - b.sequence)[0];
    if (!caller) continue;
    callers.set(child.stackId, caller.stepId);
    taken.add(caller.stepId);
  }
  return callers;
}

/** The space to go on with: as it was when the incomplete step that began last began. */
export function resumeSpace(records: readonly StepRecord[]): JsonObject {
  const candidates = records.filter(({ step }) => mustRunAgain(step));
  const last = (candidates.length > 0 ? candidates : records).reduce<StepRecord | null>(
    (best, record) => (best === null || record.beginOrder > best.beginOrder ? record : best),
    null,
  );
  return last?.step.spaceSnapshot ?? {};
}

/** What a new attempt's messages replace (see `Superseded`). */
export function supersededBy(
  steps: readonly Step[],
  messages: readonly Message[],
): { steps: ReadonlyMap<string, string[]>; whole: string[] } {
  const answers = messages.filter((message) => message.role === 'assistant');
  if (steps.length === 0) return { steps: new Map(), whole: answers.map(({ messageId }) => messageId) };
  const ofStep = leafSteps(steps).map(({ stepId }): [string, string[]] => [
    stepId,
    answers.filter((message) => message.stepId === stepId).map(({ messageId }) => messageId),
  ]);
  return { steps: new Map(ofStep), whole: [] };
}

/**
 * What `turn:assigned.resume` says for the frame `stackId` and what it called; null where nothing was recorded of it.
 * `root` is the turn's root frame, which may have recorded nothing itself.
 */
export function resumeOf(
  steps: readonly Step[],
  messages: readonly Message[],
  stackId: string,
  root: StackPlace,
): Assignment['resume'] {
  const stacks = stacksOf(steps, root);
  const below = (step: Step): boolean => pathTo(stacks, step.stackId).some((at) => at.stackId === stackId);
  const mine = steps.filter(below);
  if (mine.length === 0 && messages.length === 0) return null;
  return {
    steps: leafSteps(steps)
      .filter(below)
      .map((step): ResumeStep => ({ ...step, stackPath: pathTo(stacks, step.stackId) })),
    completedSteps: mine.filter((step) => !isIncomplete(step)),
    messages: [...messages],
  };
}

function stacksOf(steps: readonly Step[], root: StackPlace): ReadonlyMap<string, StackPlace> {
  const known = new Set([root.stackId, ...steps.map(({ stackId }) => stackId)]);
  const stacks = new Map([[root.stackId, root]]);
  for (const { stackId, assistantId, stackDepth, stackParentId } of steps) {
    if (stacks.has(stackId)) continue;
    // A caller that recorded nothing is not known: what it called hangs on the root.
    const parentId = stackParentId !== null && known.has(stackParentId) ? stackParentId : root.stackId;
    stacks.set(stackId, { stackId, assistantId, stackDepth, stackParentId: parentId });
  }
  return stacks;
}

/** Root first. A cycle in the data ends the climb. */
function pathTo(stacks: ReadonlyMap<string, StackPlace>, stackId: string): ResumeStep['stackPath'] {
  const path: ResumeStep['stackPath'] = [];
  const seen = new Set<string>();
  for (
    let at = stacks.get(stackId);
    at && !seen.has(at.stackId);
    at = at.stackParentId === null ? undefined : stacks.get(at.stackParentId)
  ) {
    seen.add(at.stackId);
    path.unshift({ stackId: at.stackId, assistantId: at.assistantId, stackDepth: at.stackDepth });
  }
  return path;
}
