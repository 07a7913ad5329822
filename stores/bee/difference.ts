/** A new thing in a list, the one before it, and the next after it that is not new. */
export interface Place<R> {
  readonly added: R;
  readonly before: R | null;
  readonly after: R | null;
}

/** What a list lost and got; both lists hold each thing once. It looks at what lies between the common start and end. */
export function differenceOf<R extends object>(
  from: readonly R[],
  to: readonly R[],
): { gone: R[]; places: Place<R>[] } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorter - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  const old = from.slice(start, from.length - end);
  const now = to.slice(start, to.length - end);
  const held = new Set(old);
  const kept = new Set(now);
  const places: Place<R>[] = [];
  let after = to[to.length - end] ?? null;
  for (const [back, row] of now.toReversed().entries()) {
    if (held.has(row)) after = row;
    else places.unshift({ added: row, before: to[to.length - end - back - 2] ?? null, after });
  }
  return { gone: old.filter((row) => !kept.has(row)), places };
}
