import { CHILD_STACK, type Message, type Step } from '../../../../protocol/index.js';

/** One line of a turn's tree, in the order in which it is shown. */
export type TreeRow =
  /** A call frame: the assistant that ran there. */
  | {
      readonly kind: 'stack';
      readonly id: string;
      readonly depth: number;
      readonly stackId: string;
      readonly assistantId: string;
    }
  | { readonly kind: 'step'; readonly id: string; readonly depth: number; readonly step: Step }
  | { readonly kind: 'message'; readonly id: string; readonly depth: number; readonly message: Message };

type Pending = TreeRow | { readonly kind: 'open'; readonly stackId: string; readonly depth: number };

interface Stack {
  readonly stackId: string;
  readonly assistantId: string;
  readonly parentId: string | null;
  readonly steps: Step[];
}

/**
 * The steps of a turn by call: each stack with its steps in order, a delegated stack under the step that called it (one that no
 * step names, where it began), and what
 * was sent under the step that sent it. Each step and each message stands once, whatever the stacks say of one another.
 */
export function stepTree(steps: readonly Step[], messages: readonly Message[]): readonly TreeRow[] {
  const stacks = stacksOf(steps);
  const rows: TreeRow[] = [];
  const left = new Set(stacks.keys());
  const sent = messagesByStep(steps, messages);
  const children = childrenOf(stacks);
  const pushMessages = (key: string | null, depth: number): void => {
    for (const message of sent.get(key) ?? []) {
      rows.push({ kind: 'message', id: message.messageId, depth, message });
    }
  };
  // A list of what is still to be shown instead of recursion: stacks may be nested as deep as they like.
  const show = (stackId: string): void => {
    const pending: Pending[] = [{ kind: 'open', stackId, depth: 0 }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      if (next.kind !== 'open') {
        rows.push(next);
        if (next.kind === 'step') pushMessages(next.step.stepId, next.depth + 1);
        continue;
      }
      const stack = stacks.get(next.stackId);
      if (!stack || !left.delete(next.stackId)) continue;
      const { depth } = next;
      const { assistantId } = stack;
      rows.push({ kind: 'stack', id: next.stackId, depth, stackId: next.stackId, assistantId });
      const within: Pending[] = [];
      const called = new Set(stack.steps.map(({ metadata }) => metadata?.[CHILD_STACK]));
      const uncalled = (children.get(next.stackId) ?? []).filter((child) => !called.has(child));
      const openUntil = (sequence: number): void => {
        while (uncalled[0] !== undefined && (stacks.get(uncalled[0])?.steps[0]?.sequence ?? 0) < sequence) {
          within.push({ kind: 'open', stackId: uncalled.shift() ?? '', depth: depth + 1 });
        }
      };
      for (const step of stack.steps) {
        openUntil(step.sequence);
        within.push({ kind: 'step', id: step.stepId, depth: depth + 1, step });
        const child = step.metadata?.[CHILD_STACK];
        if (typeof child === 'string') within.push({ kind: 'open', stackId: child, depth: depth + 2 });
      }
      openUntil(Infinity);
      pending.push(...within.toReversed());
    }
  };
  for (const { stackId, parentId } of stacks.values()) if (parentId === null || !stacks.has(parentId)) show(stackId);
  for (const stackId of stacks.keys()) if (left.has(stackId)) show(stackId);
  pushMessages(null, 0);
  return rows;
}

function stacksOf(steps: readonly Step[]): ReadonlyMap<string, Stack> {
  const stacks = new Map<string, Stack>();
  for (const step of [...steps].sort((a, b) => a.sequence - b.sequence)) {
    const { stackId, assistantId, stackParentId } = step;
    const stack = stacks.get(stackId) ?? { stackId, assistantId, parentId: stackParentId, steps: [] };
    stack.steps.push(step);
    stacks.set(stackId, stack);
  }
  return stacks;
}

function childrenOf(stacks: ReadonlyMap<string, Stack>): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const { stackId, parentId } of stacks.values()) {
    if (parentId === null) continue;
    const known = children.get(parentId) ?? [];
    known.push(stackId);
    children.set(parentId, known);
  }
  return children;
}

/** Messages by the step that sent them; under null those of no step that is known. */
function messagesByStep(
  steps: readonly Step[],
  messages: readonly Message[],
): ReadonlyMap<string | null, readonly Message[]> {
  const known = new Set(steps.map(({ stepId }) => stepId));
  const sent = new Map<string | null, Message[]>();
  for (const message of messages) {
    const key = message.stepId !== null && known.has(message.stepId) ? message.stepId : null;
    const own = sent.get(key) ?? [];
    own.push(message);
    sent.set(key, own);
  }
  return sent;
}
