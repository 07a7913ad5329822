import { isResumable } from '../../protocol/index.js';
import type { ChatError, ChatSnapshot, PendingInput, ReadState, StepSummary, Turn } from '../index.js';

/** A turn, from the input that is on its way to its end. */
export type TurnState =
  /** The chat has none. */
  | { readonly status: 'none'; readonly turn: null; readonly steps: readonly [] }
  /** Not known yet. */
  | { readonly status: 'loading'; readonly turn: null; readonly steps: readonly [] }
  /** Its input is on the way to the server. */
  | { readonly status: 'sending'; readonly turn: null; readonly steps: readonly []; readonly input: PendingInput }
  /** Its input was refused: `retry` sends it again, `dismiss` gives it up. Nothing of it is stored. */
  | {
      readonly status: 'refused';
      readonly turn: null;
      readonly steps: readonly [];
      readonly input: PendingInput;
      readonly error: ChatError;
    }
  /** It could not be read: `not_found`, `forbidden`, … */
  | { readonly status: 'unknown'; readonly turn: null; readonly steps: readonly []; readonly error: ChatError }
  /** As it is. `stopReason` and `error` of the turn say why it ended otherwise than `completed`. */
  | {
      readonly status: Turn['status'];
      readonly turn: Turn;
      /** What events told of its steps while it runs, ascending. `useSteps` reads all that were recorded. */
      readonly steps: readonly StepSummary[];
      /** Whether `resume` may start its next attempt. */
      readonly isResumable: boolean;
    };

const NONE = { turn: null, steps: [] } as const;

export function turnStateOf(requestId: string | null, chat: ChatSnapshot, read: ReadState<Turn>): TurnState {
  if (requestId === null) return { status: chat.status === 'loading' ? 'loading' : 'none', ...NONE };
  const turn = chat.turns.get(requestId) ?? read.value;
  if (turn) {
    const steps = [...chat.steps.values()].filter((step) => step.requestId === requestId);
    return {
      status: turn.status,
      turn,
      steps: steps.sort((a, b) => a.sequence - b.sequence),
      isResumable: isResumable(turn),
    };
  }
  const input = chat.pending.find((pending) => pending.requestId === requestId);
  if (input)
    return input.error
      ? { status: 'refused', ...NONE, input, error: input.error }
      : { status: 'sending', ...NONE, input };
  return read.status === 'refused' ? { status: 'unknown', ...NONE, error: read.error } : { status: 'loading', ...NONE };
}

/** The turn that a page shows the state of: the running foreground turn, else what was sent last, else the newest. */
export function presentRequestId({ running, pending, turns }: ChatSnapshot): string | null {
  const sent = pending.at(-1);
  if (running || sent) return running?.requestId ?? sent?.requestId ?? null;
  let newest: Turn | null = null;
  for (const turn of turns.values()) if (!newest || turn.createdAt >= newest.createdAt) newest = turn;
  return newest?.requestId ?? null;
}

/** Whether two states show the same. */
export function isSameTurn(a: TurnState, b: TurnState): boolean {
  return (
    a.status === b.status &&
    a.turn === b.turn &&
    ('input' in a ? a.input : null) === ('input' in b ? b.input : null) &&
    ('error' in a ? a.error : null) === ('error' in b ? b.error : null) &&
    a.steps.length === b.steps.length &&
    a.steps.every((step, at) => step === b.steps[at])
  );
}
