/** Time as the server knows it; tests bring their own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For showing, never for ordering. */
  now(): number;
  /** A clock that never goes back, milliseconds. For measuring. */
  monotonic(): number;
  /** Calls back once after `ms`. It does not keep the process alive. */
  after(ms: number, callback: () => void): Timer;
  /** Calls back once in the next tick of the event loop. */
  soon(callback: () => void): void;
}

export interface Timer {
  cancel(): void;
}

/** Timers count to this many milliseconds (25 days); more would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** ISO 8601, UTC, with milliseconds. */
export function isoNow(clock: Clock): string {
  const ms = clock.now();
  if (ms !== written.ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

/** A time that somebody names, but none to come: what is newest is what happened last. Without one it is now. */
export const notAfter = (now: string, named: string | undefined): string =>
  // ISO 8601 in one form sorts as time does.
  named !== undefined && named < now ? named : now;

/** The millisecond written last: a busy server asks for the same one many times. */
let written = { ms: Number.NaN, text: '' };

/** Resolves after `ms`, or as soon as the signal fires. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done);
  });
}

/** Resolves in the next tick of the event loop, after what sockets have to say. */
export const nextTick = (clock: Clock): Promise<void> => new Promise((resolve) => clock.soon(resolve));

/** Whether the promise settles within `ms`. @throws what it rejects with within that time */
export async function settlesWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => (timer = clock.after(ms, () => resolve(false))));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (callback) => void setImmediate(callback),
};
