import {
  CHILD_STACK,
  isHandled,
  isIncomplete,
  type Assignment,
  type JsonObject,
  type Message,
  type ResumeStep,
  type Step,
} from '../../protocol/index.js';
import type { StepRecord } from '../ports/store.js';
import type { StackPlace } from './step-recorder.js';

// TRN-9, the pure part: what of a turn's recorded steps runs again, and what that replaces.

const mustRunAgain = (step: Step): boolean => isIncomplete(step) && !isHandled(step);

/** The steps that run again and have no child that does, deepest first; none below a step that completed or was handled. */
export function leafSteps(steps: readonly Step[]): Step[] {
  const callers = callersOf(steps);
  const again = steps.filter((step) => mustRunAgain(step) && !isSettledAbove(step, callers));
  const withIncompleteChild = new Set(again.map((step) => callers.get(step.stackId)?.stepId));
  return again
    .filter((step) => !withIncompleteChild.has(step.stepId))
    .sort((a, b) => b.stackDepth - a.stackDepth || b.sequence - a.sequence);
}

/** Whether a step above it has completed or was handled: then whatever is below is not run again either. */
function isSettledAbove(step: Step, callers: ReadonlyMap<string, Step>): boolean {
  const seen = new Set<string>();
  for (let at = callers.get(step.stackId); at && !seen.has(at.stepId); at = callers.get(at.stackId)) {
    if (!mustRunAgain(at)) return true;
    seen.add(at.stepId);
  }
  return false;
}

/**
 * stack id → the delegate step that called it: the one that says so, else the first of the parent stack that began before
 * and that no other stack has claimed.
 */
function callersOf(steps: readonly Step[]): ReadonlyMap<string, Step> {
  const callers = new Map<string, Step>();
  const delegates = steps.filter(({ type }) => type === 'delegate').sort((a, b) => a.sequence - b.sequence);
  const free: Step[] = [];
  for (const step of delegates) {
    const childStackId = step.metadata?.[CHILD_STACK];
    if (typeof childStackId === 'string') callers.set(childStackId, step);
    else free.push(step);
  }
  for (const child of [...steps].sort((a, b) => a.sequence - b.sequence)) {
    if (child.stackParentId === null || callers.has(child.stackId)) continue;
    const index = free.findIndex((step) => step.stackId === child.stackParentId && step.sequence < child.sequence);
    const [caller] = index < 0 ? [] : free.splice(index, 1);
    if (caller) callers.set(child.stackId, caller);
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
  const leaves = leafSteps(steps).filter(below);
  return {
    steps: leaves.map((step): ResumeStep => ({ ...step, stackPath: pathTo(stacks, step.stackId) })),
    completedSteps: mine.filter((step) => !isIncomplete(step)),
    otherSteps: mine.filter((step) => isIncomplete(step) && !leaves.includes(step)),
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
