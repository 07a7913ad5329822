import { definedOf } from '../protocol/index.js';
import { isRetryable, retryAfterMs } from './retryable.js';
import type { Waiting } from './time-limit.js';

/** How often something is tried, and how long is waited between two tries. */
export interface RetryPolicy {
  /** Tries altogether, the first one counted; default 3. */
  readonly attempts?: number;
  /** Pause after the first try, milliseconds; default 250. */
  readonly backoffMs?: number;
  /** How many times as long each further pause is; default 2. */
  readonly factor?: number;
  /** No pause of ours is longer, milliseconds; default 10,000. What the other side asked for may be. */
  readonly maxBackoffMs?: number;
  /** Whether another try can help; default {@link isRetryable}. */
  readonly retryable?: (error: unknown) => boolean;
}

/** Whoever wants us to wait longer does not want us back: the error is better told at once. */
const MAX_RETRY_AFTER_MS = 60_000;
const DEFAULTS = { attempts: 3, backoffMs: 250, factor: 2, maxBackoffMs: 10_000 };

/**
 * Runs until it succeeds once, at most `attempts` times. Nothing is tried after the turn was aborted, nor where the other
 * side asks for more than a minute of patience. A pause lasts at least as long as the error's `retry-after`.
 *
 * @throws what the last try threw, or the reason of the abort
 */
export async function withRetry<T>(
  ctx: Waiting,
  policy: RetryPolicy | undefined,
  run: (attempt: number) => Promise<T>,
): Promise<T> {
  // Those who do not compile with exact optional properties may write `undefined` into it.
  const { attempts, backoffMs, factor, maxBackoffMs } = { ...DEFAULTS, ...definedOf(policy ?? {}) };
  const canHelp = policy?.retryable ?? isRetryable;
  for (let attempt = 1; ; attempt++) {
    ctx.abortSignal.throwIfAborted();
    try {
      return await run(attempt);
    } catch (error) {
      if (ctx.abortSignal.aborted || attempt >= attempts || !canHelp(error)) throw error;
      const asked = retryAfterMs(error) ?? 0;
      if (asked > MAX_RETRY_AFTER_MS) throw error;
      await ctx.wait(Math.max(asked, Math.min(backoffMs * factor ** (attempt - 1), maxBackoffMs)));
    }
  }
}
