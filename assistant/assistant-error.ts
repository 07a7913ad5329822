import { MAX_TURN_ERROR_LENGTH, wellFormed, type TurnError } from '../protocol/index.js';

/** An error of an assistant's run with a code that a program can match. */
export class AssistantError extends Error {
  override readonly name: string = 'AssistantError';

  /**
   * @param code `resume_mismatch`, `bad_result`, `max_steps`, `all_failed`; what a step, or an assistant that was called, had
   *   failed with; or a word of your own
   */
  constructor(
    readonly code: string,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Another assistant that was called has failed. Whoever ran that one was told what it threw. */
export class CallFailed extends AssistantError {}

/** Why an abort signal fires: an error that has the reason as its name, `stopped` or `agent_lost` for instance. */
export function frameEnded(reason: string): Error {
  const error = new Error(`The turn was ended: ${reason}.`);
  error.name = reason;
  return error;
}

const SILENT: TurnError = { code: 'error', message: 'the assistant failed' };

/** Anything can be thrown; what people read of it is a code and a sentence. */
export function turnErrorOf(thrown: unknown): TurnError {
  try {
    if (typeof thrown === 'string') return { code: 'error', message: readable(thrown) };
    if (!(thrown instanceof Error)) return SILENT;
    const code = 'code' in thrown && typeof thrown.code === 'string' && thrown.code !== '' ? thrown.code : 'error';
    return { code: readable(code), message: readable(thrown.message || thrown.name) };
  } catch {
    // An error that cannot be read, by getters that throw, is an error all the same.
    return SILENT;
  }
}

/** As the protocol takes it, however long or broken it is. */
const readable = (text: unknown): string => wellFormed(String(text).slice(0, MAX_TURN_ERROR_LENGTH));
