import { systemClock, type Clock } from '../../server/clock.js';

export interface FreezableClock extends Clock {
  /** As SIGSTOP does to a process: no timer fires any more, while the time goes on. */
  freeze(): void;
  /** What was due meanwhile is called at once. */
  thaw(): void;
}

/** The system's clock, whose timers a test can hold back: a node of several in one process that is paused, or dies. */
export function freezableClock(): FreezableClock {
  let isFrozen = false;
  const due = new Set<() => void>();
  return {
    ...systemClock,
    after(ms, callback) {
      const timer = systemClock.after(ms, () => (isFrozen ? due.add(callback) : callback()));
      return {
        cancel() {
          timer.cancel();
          due.delete(callback);
        },
      };
    },
    freeze: () => void (isFrozen = true),
    thaw() {
      isFrozen = false;
      for (const callback of due) {
        due.delete(callback);
        callback();
      }
    },
  };
}
