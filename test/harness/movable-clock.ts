import { systemClock, type Clock, type Timer } from '../../server/clock.js';

export interface MovableClock extends Clock {
  /** Lets time pass at once: what is due by then is called, in the order of its time. */
  advance(ms: number): void;
}

interface Waiting {
  readonly at: number;
  readonly callback: () => void;
  real: Timer;
}

/** The system's clock, which a test can move forward: for a server whose waits are long. Timers get their delays as they are. */
export function movableClock(): MovableClock {
  let offset = 0;
  const waiting = new Set<Waiting>();
  const monotonic = (): number => systemClock.monotonic() + offset;
  const fire = (timer: Waiting): void => {
    if (!waiting.delete(timer)) return;
    timer.real.cancel();
    timer.callback();
  };
  const next = (until: number): Waiting | undefined =>
    [...waiting].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => systemClock.now() + Math.round(offset),
    monotonic,
    soon: (callback) => systemClock.soon(callback),
    after(ms, callback) {
      const timer: Waiting = {
        at: monotonic() + ms,
        callback,
        real: systemClock.after(ms, () => fire(timer)),
      };
      waiting.add(timer);
      return {
        cancel() {
          waiting.delete(timer);
          timer.real.cancel();
        },
      };
    },
    advance(ms) {
      const until = monotonic() + ms;
      for (let timer = next(until); timer; timer = next(until)) {
        offset += Math.max(0, timer.at - monotonic());
        fire(timer);
      }
      offset += Math.max(0, until - monotonic());
      for (const timer of waiting) {
        timer.real.cancel();
        timer.real = systemClock.after(Math.max(0, timer.at - monotonic()), () => fire(timer));
      }
    },
  };
}
