import type { Clock } from '../../server/clock.js';

export interface ManualClock extends Clock {
  /** Lets time pass: what is due by then is called, in the order of its time. */
  advance(ms: number): void;
  /** Timers that wait. */
  readonly waiting: number;
}

/** A clock that stands still until a test moves it. */
export function manualClock(): ManualClock {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const next = (until: number) => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    soon: (callback) => void setImmediate(callback),
    advance(ms) {
      const until = now + ms;
      for (let timer = next(until); timer; timer = next(until)) {
        timers.delete(timer);
        now = timer.at;
        timer.callback();
      }
      now = until;
    },
    get waiting() {
      return timers.size;
    },
  };
}
