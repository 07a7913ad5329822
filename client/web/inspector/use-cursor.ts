import { useMemo, useState } from 'react';
import type { Entry } from './log/entry.js';

/** Which entry of the log is looked at. */
export interface Cursor {
  /** Its id; -1 while the log is empty. */
  readonly id: number;
  /** Whether it is the newest one, whatever comes. */
  readonly isLive: boolean;
  /** Stays at an entry; the nearest one that is held. */
  readonly to: (id: number) => void;
  readonly by: (entries: number) => void;
  readonly follow: () => void;
}

export function useCursor(entries: readonly Entry[]): Cursor {
  const [place, setPlace] = useState<number | null>(null);
  const first = entries[0]?.id ?? -1;
  const last = entries.at(-1)?.id ?? -1;
  const id = place === null ? last : Math.min(last, Math.max(first, place));
  return useMemo(() => {
    const to = (next: number): void => setPlace(Math.min(last, Math.max(first, next)));
    return { id, isLive: place === null, to, by: (by) => to(id + by), follow: () => setPlace(null) };
  }, [id, place, first, last]);
}
