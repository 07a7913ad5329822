import { definedOf } from '../defined.js';
import type { ErrorBody } from '../error.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { StopReason, Turn } from '../turn.js';
import type { AgUiEvent, AgUiUsage } from './event.js';

export interface RunNames {
  readonly threadId: string;
  readonly runId: string;
}

/** Why a turn ended that nobody wanted to end, in words for people. */
const SENTENCES: Partial<Record<StopReason, string>> = {
  agent_lost: 'The agent that answered was lost.',
  shutdown: 'The server was shut down.',
  crashed: 'The server crashed.',
  timeout: 'It took too long.',
  agent_unavailable: 'No agent serves this assistant at present.',
};

/** Somebody wanted it to end: that is no error. */
const CANCELLED: ReadonlySet<StopReason | null> = new Set(['stopped', 'superseded', 'deleted']);

/**
 * The one event that a run ends with.
 *
 * @param pending calls of the turn that nothing came of: the client may have to run them
 * @param isOne whether the client speaks AG-UI 1.0; earlier clients know no cancelled outcome
 */
export function endOf(
  { threadId, runId }: RunNames,
  turn: Turn,
  { pending, isOne }: { readonly pending: readonly string[]; readonly isOne: boolean },
): AgUiEvent {
  const { status, stopReason, error, attempt } = turn;
  const metadata: JsonObject = { attempt, status, ...(stopReason === null ? {} : { stopReason }) };
  const common = { metadata, ...usageOf(turn.usage) };
  if (status === 'completed') {
    const calls = pending.length === 0 ? {} : { pendingToolCallIds: pending };
    return { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success', ...calls }, ...common };
  }
  if (CANCELLED.has(stopReason))
    return { type: 'RUN_FINISHED', threadId, runId, ...(isOne ? { outcome: { type: 'cancelled' } } : {}), ...common };
  const code = error?.code ?? stopReason ?? 'error';
  const message = error?.message ?? (stopReason && SENTENCES[stopReason]) ?? 'The run failed.';
  return { type: 'RUN_ERROR', message, code, ...common };
}

/** The last event where the stream ends before the run: the client may connect again. */
export const cutOf = ({ code, message, retryable, retryAfterMs }: ErrorBody): AgUiEvent => ({
  type: 'RUN_ERROR',
  code,
  message,
  metadata: { isCut: true, retryable, ...definedOf({ retryAfterMs }) },
});

/** The words of AG-UI, and those that models and assistants say for the same. */
const COUNTS: Readonly<Record<keyof AgUiUsage, readonly string[]>> = {
  inputTokens: ['inputTokens', 'promptTokens', 'prompt_tokens', 'input_tokens'],
  outputTokens: ['outputTokens', 'completionTokens', 'completion_tokens', 'output_tokens'],
  totalTokens: ['totalTokens', 'total_tokens'],
  reasoningTokens: ['reasoningTokens'],
  cachedInputTokens: ['cachedInputTokens'],
};

function usageOf(usage: Json): { readonly usage?: readonly AgUiUsage[] } {
  if (!isJsonObject(usage)) return {};
  const counted = Object.entries(COUNTS).flatMap(([count, names]) => {
    const value = names.map((name) => usage[name]).find(isCount);
    return value === undefined ? [] : [[count, value] as const];
  });
  return counted.length === 0 ? {} : { usage: [Object.fromEntries(counted)] };
}

const isCount = (value: Json | undefined): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
