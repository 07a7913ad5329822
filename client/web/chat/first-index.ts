import { useState } from 'react';
import type { Row } from './rows.js';

/** Far from 0, since a list counts down as older rows are laid before it. */
const MIDDLE = 1_000_000;

interface Anchored {
  readonly rows: readonly Row[];
  readonly firstIndex: number;
}

/** The index of the first row, such that rows which were there keep theirs when others are laid before them. */
export function anchored(before: Anchored, rows: readonly Row[]): Anchored {
  const places = new Map(rows.map(({ messageId }, at) => [messageId, at]));
  for (const [at, { messageId }] of before.rows.entries()) {
    const place = places.get(messageId);
    if (place !== undefined) return { rows, firstIndex: before.firstIndex + at - place };
  }
  return { rows, firstIndex: MIDDLE };
}

export function useFirstIndex(rows: readonly Row[]): number {
  const [held, setHeld] = useState<Anchored>({ rows, firstIndex: MIDDLE });
  if (held.rows === rows) return held.firstIndex;
  const next = anchored(held, rows);
  setHeld(next);
  return next.firstIndex;
}
