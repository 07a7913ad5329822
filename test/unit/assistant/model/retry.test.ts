import { describe, expect, it } from 'vitest';
import { withRetry } from '../../../../assistant/retry.js';
import { isRetryable } from '../../../../assistant/retryable.js';
import { TimeoutError, withTimeout } from '../../../../assistant/time-limit.js';
import { ChatError } from '../../../../protocol/index.js';
import { RecordingContext } from './recording-context.js';

const failing =
  (errors: unknown[]) =>
  async (attempt: number): Promise<string> => {
    if (errors.length > 0) throw errors.shift();
    return `attempt ${attempt}`;
  };
const busy = () => new ChatError('storage_unavailable');

describe('withRetry', () => {
  it('tries three times, waiting longer each time', async () => {
    const ctx = new RecordingContext();
    await expect(withRetry(ctx, {}, failing([busy(), busy()]))).resolves.toBe('attempt 3');
    expect(ctx.waits).toEqual([250, 500]);
    await expect(withRetry(ctx, undefined, failing([busy(), busy(), busy()]))).rejects.toThrow('storage');
  });

  it('throws at once what another try cannot help, as it is', async () => {
    const ctx = new RecordingContext();
    for (const thrown of [new ChatError('forbidden'), new Error('x'), 'text', null, undefined]) {
      await expect(withRetry(ctx, {}, failing([thrown]))).rejects.toBe(thrown);
    }
    expect(ctx.waits).toEqual([]);
  });

  it('bounds its pauses, but not those that were asked for', async () => {
    const ctx = new RecordingContext();
    const asking = new ChatError('rate_limited', 'slow', { retryAfterMs: 20_000 });
    await withRetry(ctx, { attempts: 9, factor: 10, maxBackoffMs: 3000 }, failing([busy(), busy(), busy(), asking]));
    expect(ctx.waits).toEqual([250, 2500, 3000, 20_000]);
  });

  it('reads a retry-after in each of its forms', async () => {
    const ctx = new RecordingContext();
    const withHeaders = (responseHeaders: Record<string, string>) => ({ isRetryable: true, responseHeaders });
    const errors = [
      withHeaders({ 'retry-after': '1.5' }),
      withHeaders({ 'retry-after-ms': '1800', 'retry-after': '9' }),
      withHeaders({ 'retry-after': 'Mon, 30 Nov 2026 10:00:04 GMT', date: 'Mon, 30 Nov 2026 10:00:00 GMT' }),
      withHeaders({ 'retry-after': 'soon' }),
    ];
    await withRetry(ctx, { attempts: 9, factor: 1 }, failing(errors));
    expect(ctx.waits).toEqual([1500, 1800, 4000, 250]);
  });

  it('never tries after the turn was aborted', async () => {
    const ctx = new RecordingContext();
    let tries = 0;
    const run = async (): Promise<never> => {
      tries++;
      ctx.abort.abort(new Error('stopped'));
      throw busy();
    };
    await expect(withRetry(ctx, {}, run)).rejects.toThrow('storage');
    await expect(withRetry(ctx, {}, run)).rejects.toThrow('stopped');
    expect(tries).toBe(1);
  });

  it('knows a connection that was cut, however deep it says so, and no endless chain of causes', () => {
    const cut = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    expect(isRetryable(new Error('a', { cause: new TypeError('terminated', { cause: cut }) }))).toBe(true);
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    expect(isRetryable(loop)).toBe(false);
    expect(isRetryable(new TimeoutError(1))).toBe(true);
  });
});

describe('withTimeout', () => {
  it('gives what was run in time, and its timer back', async () => {
    const ctx = new RecordingContext();
    let signal: AbortSignal | null = null;
    const run = async (given: AbortSignal) => {
      signal = given;
      return 'done';
    };
    await expect(withTimeout(ctx, 60_000, run)).resolves.toBe('done');
    expect(signal).toMatchObject({ aborted: false });
  });

  it('abandons what hangs, and tells it', async () => {
    const ctx = new RecordingContext();
    const reasons: unknown[] = [];
    const hang = (signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener('abort', () => reasons.push(signal.reason)));
    await expect(withTimeout(ctx, 20, hang)).rejects.toMatchObject({ name: 'TimeoutError', code: 'timeout' });
    const forEver = withTimeout(ctx, undefined, hang);
    ctx.abort.abort(new Error('stopped'));
    await expect(forEver).rejects.toThrow('stopped');
    expect(reasons).toEqual([expect.any(TimeoutError), ctx.abort.signal.reason]);
    await expect(withTimeout(ctx, 20, hang)).rejects.toThrow('stopped');
  });

  it('throws what was thrown, also before the first await', async () => {
    const ctx = new RecordingContext();
    const run = (): Promise<never> => {
      throw new Error('at once');
    };
    await expect(withTimeout(ctx, 1000, run)).rejects.toThrow('at once');
  });
});
