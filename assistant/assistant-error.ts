import { MAX_TURN_ERROR_LENGTH, wellFormed, type TurnError } from '../protocol/index.js';

/** An error of an assistant's run with a code that a program can match. */
export class AssistantError extends Error {
  override readonly name: string = 'AssistantError';

  /**
   * @param code `resume_mismatch`, `bad_result`, `max_steps`, `timeout`, `all_failed`, or what an assistant that was called
   *   had failed with
   */
  constructor(
    readonly code: string,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Anything can be thrown; what people read of it is a code and a sentence. */
export function turnErrorOf(thrown: unknown): TurnError {
  if (thrown instanceof Error) {
    const code = 'code' in thrown && typeof thrown.code === 'string' && thrown.code !== '' ? thrown.code : 'error';
    return { code: readable(code), message: readable(thrown.message || thrown.name) };
  }
  return { code: 'error', message: typeof thrown === 'string' ? readable(thrown) : 'the assistant failed' };
}

/** As the protocol takes it, however long or broken it is. */
const readable = (text: unknown): string => wellFormed(String(text).slice(0, MAX_TURN_ERROR_LENGTH));
