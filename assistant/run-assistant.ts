import { setMaxListeners } from 'node:events';
import { json, parse, type FrameEnd, type Json, type TurnError } from '../protocol/index.js';
import { CallFailed, turnErrorOf } from './assistant-error.js';
import type { Assistant } from './assistant.js';
import { createContext, frameOf, type Context } from './context.js';
import { AssistantFrame, type FrameNeeds } from './frame.js';
import { runningFrame } from './scope.js';

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
  const crashed = new Promise<never>((_, reject) => (frame.crash = reject));
  const running = frame.within(() => frame.abortable(runToEnd(assistant, ctx)));
  const outcome = await Promise.race([running, crashed])
    .then((output): FrameOutcome => ({ status: 'completed', output, error: null }))
    .catch(async (error: unknown): Promise<FrameOutcome> => {
      if (needs.abortSignal.aborted) return { status: 'interrupted', output: null, error: null };
      if (!(error instanceof CallFailed)) needs.onError(error);
      await frame.fail(error);
      return { status: 'failed', output: null, error: turnErrorOf(error) };
    });
  return frame.usage === null ? outcome : { ...outcome, usage: frame.usage };
}

/**
 * What an assistant's code has thrown in a timer or a listener, where no promise leads to its run: fails the frame whose
 * code it was, also when that has ended and nobody cares any more.
 *
 * @returns false for what is not an assistant's
 */
export function failRunning(error: unknown): boolean {
  const frame = runningFrame();
  if (!(frame instanceof AssistantFrame)) return false;
  frame.crash(error);
  return true;
}

async function runToEnd(assistant: Pick<Assistant, 'run'>, ctx: Context): Promise<Json> {
  const output = parse(json, (await assistant.run(ctx)) ?? null, ['output']);
  await frameOf(ctx).finish();
  return output;
}
