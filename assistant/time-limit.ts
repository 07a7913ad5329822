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
