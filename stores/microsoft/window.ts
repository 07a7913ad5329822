/**
 * How many of the oldest go so that at most `max` remain: those that are too many, and what would then begin the list and
 * may not, since what it answers is among those.
 */
export function surplus<T>(list: readonly T[], max: number | null, mayBegin: (item: T) => boolean): number {
  if (max === null || list.length <= max) return 0;
  const start = list.slice(list.length - max).findIndex(mayBegin);
  return start === -1 ? list.length : list.length - max + start;
}
