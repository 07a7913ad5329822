/**
 * How long to wait before trying again: exponential with full jitter, so that the clients of a server that restarted do
 * not come back in one wave.
 */
export interface Backoff {
  /** Ceiling of the first wait, milliseconds. Default 250. */
  readonly minMs: number;
  /** Ceiling of every wait, milliseconds. Default 10,000. */
  readonly maxMs: number;
  /** Growth of the ceiling from one failure to the next. Default 1.7. */
  readonly factor: number;
}

export const DEFAULT_BACKOFF: Backoff = { minMs: 250, maxMs: 10_000, factor: 1.7 };

/**
 * Milliseconds to wait: anywhere from 0 up to the ceiling, which is `minMs × factor^failures` and at most `maxMs`, on
 * top of what the server asked for.
 *
 * @param failures earlier failures in a row: 0 for the first wait
 * @param fraction from 0 up to 1
 * @param askedMs the server's `retryAfterMs`
 */
export function backoffMs(backoff: Backoff, failures: number, fraction: number, askedMs = 0): number {
  const ceiling = Math.min(backoff.maxMs, backoff.minMs * backoff.factor ** failures);
  return Math.round(askedMs + fraction * ceiling);
}
