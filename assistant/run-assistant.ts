import { setMaxListeners } from 'node:events';
import { json, parse, type FrameEnd, type Json, type TurnError } from '../protocol/index.js';
import { turnErrorOf } from './assistant-error.js';
import type { Assistant } from './assistant.js';
import { createContext, frameOf } from './context.js';
import type { FrameNeeds } from './frame.js';

/** How a frame ended. */
export interface FrameOutcome {
  readonly status: FrameEnd;
  readonly output: Json;
  readonly error: TurnError | null;
  /** Tokens that were used, in all attempts. */
  readonly usage?: Json;
}

/**
 * Runs an assistant on a frame, the same in every host. It never rejects: whatever is thrown becomes the outcome, and so
 * does an output that is no JSON. When the turn is stopped it comes to its end at once, whatever the code still does.
 */
export async function runAssistant(assistant: Pick<Assistant, 'run'>, needs: FrameNeeds): Promise<FrameOutcome> {
  // Each step and each pause of many at once listens to it: more than ten are no leak.
  setMaxListeners(0, needs.abortSignal);
  const ctx = createContext(needs);
  const frame = frameOf(ctx);
  const outcome = await frame
    .abortable(runToEnd(assistant, ctx))
    .then((output): FrameOutcome => ({ status: 'completed', output, error: null }))
    .catch(async (error: unknown): Promise<FrameOutcome> => {
      if (needs.abortSignal.aborted) return { status: 'interrupted', output: null, error: null };
      await frame.fail(error);
      return { status: 'failed', output: null, error: turnErrorOf(error) };
    });
  return frame.usage === null ? outcome : { ...outcome, usage: frame.usage };
}

async function runToEnd(assistant: Pick<Assistant, 'run'>, ctx: Parameters<Assistant['run']>[0]): Promise<Json> {
  const output = parse(json, (await assistant.run(ctx)) ?? null, ['output']);
  await frameOf(ctx).finish();
  return output;
}
