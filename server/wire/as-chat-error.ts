import { ChatError, ERRORS } from '../../protocol/index.js';
import type { Log } from '../log.js';

/** Any thrown value as the one error class. What nobody foresaw is logged here, and only its code goes out. */
export function asChatError(thrown: unknown, log: Log, context: Record<string, unknown>): ChatError {
  if (thrown instanceof ChatError) {
    if (thrown.code === 'internal' || ERRORS[thrown.code].status === 503)
      log.warn({ ...context, err: thrown }, 'command refused');
    return thrown;
  }
  log.error({ ...context, err: thrown }, 'command failed');
  return new ChatError('internal', undefined, { cause: thrown });
}
