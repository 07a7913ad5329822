import { ChatError } from '../protocol/index.js';

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

/** The part of a context that waiting needs. */
export interface Waiting {
  readonly abortSignal: AbortSignal;
  /**
   * Resolves after `ms`; rejects when `abortSignal` fires. When `until` fires nobody waits for the answer any more: a host
   * that knows it can give its timer back.
   */
  wait(ms: number, until?: AbortSignal): Promise<void>;
}

/** Something of ours took too long and was given up. Another try may be quicker. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
  readonly retryable = true;

  constructor(ms: number, what = 'no end') {
    super(`${what} within ${ms} ms`);
  }
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
  const { attempts, backoffMs, factor, maxBackoffMs } = { ...DEFAULTS, ...defined(policy) };
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

/** A policy may be written with `undefined` in it by those who do not compile with exact optional properties. */
const defined = (policy: RetryPolicy = {}): RetryPolicy =>
  Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));

/**
 * Runs with a signal that fires when `ms` are over or the turn is aborted, and waits for it no longer than that, whether
 * or not it listens: what hangs is abandoned. Without `ms` only the abort ends it.
 *
 * @throws {TimeoutError} when `ms` are over
 */
export function withTimeout<T>(
  ctx: Waiting,
  ms: number | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = ms === undefined || !Number.isFinite(ms) ? undefined : ms;
  return guarded(
    ctx,
    limit === undefined ? undefined : (over) => ctx.wait(limit, over).then(() => new TimeoutError(limit)),
    run,
  );
}

/** Passes a stream on, and notes when its reader waits for the next part: only that silence is the stream's. */
export type Listen = <P>(source: AsyncIterable<P>) => AsyncGenerator<P, void, undefined>;

/** Parts that a limit is watched in, so that a stream of a thousand tokens needs few timers, not a thousand. */
const TICKS = 4;

/**
 * Like {@link withTimeout}, for a stream: it ends when nothing was heard for `ms`, which is noticed at most a quarter
 * later. The time that the reader takes for a part is its own and not counted.
 *
 * @throws {TimeoutError} after so much silence
 */
export function withSilenceLimit<T>(
  ctx: Waiting,
  ms: number,
  run: (signal: AbortSignal, listen: Listen) => Promise<T>,
): Promise<T> {
  let isReading = true;
  let quietTicks = 0;
  const watch = async (over: AbortSignal): Promise<TimeoutError> => {
    while (quietTicks <= TICKS && !over.aborted) {
      await ctx.wait(ms / TICKS, over);
      quietTicks = isReading ? quietTicks + 1 : 0;
    }
    return new TimeoutError(ms, 'nothing was heard');
  };
  return guarded(ctx, watch, (signal) =>
    run(signal, async function* listen(source) {
      for await (const part of source) {
        // It may have been given up meanwhile: what comes now belongs to nobody.
        signal.throwIfAborted();
        isReading = false;
        yield part;
        quietTicks = 0;
        isReading = true;
      }
    }),
  );
}

/** Runs until it is done, until `watch` says that it takes too long, or until the turn is aborted. */
async function guarded<T>(
  ctx: Waiting,
  watch: ((over: AbortSignal) => Promise<TimeoutError>) | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  ctx.abortSignal.throwIfAborted();
  const work = new AbortController();
  const over = new AbortController();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    // Whatever the reason is, it is rejected with as it is.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    stop = () => reject(ctx.abortSignal.reason);
    ctx.abortSignal.addEventListener('abort', stop);
  });
  const late = watch?.(over.signal).then((error): never => {
    throw error;
  });
  try {
    const running = (async () => run(work.signal))();
    return await Promise.race(late === undefined ? [running, stopped] : [running, stopped, late]);
  } catch (error) {
    work.abort(error);
    throw error;
  } finally {
    ctx.abortSignal.removeEventListener('abort', stop);
    over.abort();
  }
}

/** Errors by which a network says that a connection could not be made or did not last. */
const CUT_CONNECTION = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const MAX_CAUSES = 8;

/** Whether the same again may succeed: the error says so, something was too slow, or a connection was cut. */
export function isRetryable(error: unknown): boolean {
  return field(error, 'isRetryable') === true || field(error, 'retryable') === true || cutConnection(error) !== null;
}

/** The network's word for a connection that was cut, wherever it stands among the causes; null where it was not. */
export function cutConnection(error: unknown): string | null {
  let inner = error;
  for (let depth = 0; depth < MAX_CAUSES && inner !== undefined; depth++) {
    const code = field(inner, 'code');
    if (typeof code === 'string' && CUT_CONNECTION.has(code)) return code;
    inner = field(inner, 'cause');
  }
  return null;
}

/** How long the other side asks us to wait: our own errors say it in `retryAfterMs`, HTTP in its headers. */
export function retryAfterMs(error: unknown): number | undefined {
  if (error instanceof ChatError) return error.retryAfterMs;
  const own = field(error, 'retryAfterMs');
  if (typeof own === 'number') return own;
  const headers = field(error, 'responseHeaders');
  const inMs = Number.parseFloat(String(field(headers, 'retry-after-ms')));
  if (inMs >= 0) return inMs;
  const after = field(headers, 'retry-after');
  if (typeof after !== 'string') return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1000;
  // The time of day is the other side's in both: our clock does not come into it.
  const ms = Date.parse(after) - Date.parse(String(field(headers, 'date')));
  return ms >= 0 ? ms : undefined;
}

const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;
