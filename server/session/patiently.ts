import { ChatError } from '../../protocol/index.js';
import { pause } from '../clock.js';
import type { ChatSession } from './chat-session.js';

const RETRY_MS = 100;

/**
 * Asks the store again while it is away, as long as a write would be tried (TRN-7).
 *
 * @throws what the store refuses for good, or its last error when `commitRetryMs` are over
 */
export async function patiently<T>(session: ChatSession, ask: () => Promise<T>): Promise<T> {
  const { clock, settings } = session.env;
  const deadline = clock.monotonic() + settings.commitRetryMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error instanceof ChatError && error.retryable;
      if (!isPassing || clock.monotonic() > deadline) throw error;
      await pause(clock, RETRY_MS);
    }
  }
}
