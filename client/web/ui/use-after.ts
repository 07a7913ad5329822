import { useEffect, useEffectEvent, useState } from 'react';
import { systemClock } from '../../clock.js';

/** Calls back `ms` after it was first given so; null: not. */
export function useAfter(ms: number | null, callback: () => void): void {
  const called = useEffectEvent(callback);
  useEffect(() => {
    if (ms === null) return;
    const timer = systemClock.after(ms, () => called());
    return () => timer.cancel();
  }, [ms]);
}

/** A value as it was when it had not changed for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = systemClock.after(ms, () => setSettled(() => value));
    return () => timer.cancel();
  }, [value, ms]);
  return settled;
}

/** The wall clock, milliseconds since 1970, read anew each `everyMs`; null: read once. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(() => systemClock.now());
  useEffect(() => {
    if (everyMs === null) return;
    let timer = systemClock.after(0, tick);
    function tick(): void {
      setNow(systemClock.now());
      timer = systemClock.after(everyMs ?? 0, tick);
    }
    return () => timer.cancel();
  }, [everyMs]);
  return now;
}
