import {
  ChatError,
  json,
  MAX_TURN_ERROR_LENGTH,
  parse,
  wellFormed,
  type FrameEnd,
  type Json,
  type TurnError,
} from '../protocol/index.js';
import type { Assistant } from './assistant.js';
import { createContext, type ContextNeeds } from './context.js';

/** How a frame ended. */
export interface FrameOutcome {
  readonly status: FrameEnd;
  readonly output: Json;
  readonly error: TurnError | null;
  /** Tokens that were used, as models count them. */
  readonly usage?: Json;
}

/**
 * Runs an assistant on a frame, the same in every host. It never rejects: whatever is thrown becomes the outcome, and so
 * does an output that is no JSON.
 */
export async function runAssistant(assistant: Assistant, needs: ContextNeeds): Promise<FrameOutcome> {
  try {
    const output = await assistant.run(createContext(needs));
    return { status: 'completed', output: parse(json, output ?? null, ['output']), error: null };
  } catch (error) {
    if (needs.abortSignal.aborted) return { status: 'interrupted', output: null, error: null };
    return { status: 'failed', output: null, error: turnErrorOf(error) };
  }
}

/** Anything can be thrown; what people read of it is a code and a sentence. */
export function turnErrorOf(thrown: unknown): TurnError {
  if (thrown instanceof ChatError) return { code: thrown.code, message: readable(thrown.message) };
  if (thrown instanceof Error) return { code: 'error', message: readable(thrown.message || thrown.name) };
  return { code: 'error', message: typeof thrown === 'string' ? readable(thrown) : 'the assistant failed' };
}

/** As the protocol takes it, however long or broken it is. */
const readable = (text: unknown): string => wellFormed(String(text).slice(0, MAX_TURN_ERROR_LENGTH));
