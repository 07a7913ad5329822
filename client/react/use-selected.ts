import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { Store } from '../store.js';

/**
 * What is selected of a store. The component renders when that is another one, not when the store changes; what is the same
 * by `isSame` keeps its reference.
 *
 * @param onServer what the store shows where nothing was fetched: on a server, and while its page is hydrated
 */
export function useSelected<S, T>(
  store: Store<S>,
  onServer: S,
  select: (snapshot: S) => T,
  isSame: (a: T, b: T) => boolean = Object.is,
): T {
  const shown = useRef<{ readonly value: T } | null>(null);
  const { getSelected, getOnServer } = useMemo(() => {
    let seen: { readonly snapshot: S; readonly value: T } | null = null;
    const selected = (snapshot: S): T => {
      if (seen && Object.is(seen.snapshot, snapshot)) return seen.value;
      const next = select(snapshot);
      const before = seen ?? shown.current;
      const value = before && isSame(before.value, next) ? before.value : next;
      seen = { snapshot, value };
      return value;
    };
    return { getSelected: () => selected(store.getSnapshot()), getOnServer: () => selected(onServer) };
  }, [store, onServer, select, isSame]);
  const value = useSyncExternalStore(store.subscribe, getSelected, getOnServer);
  useEffect(() => {
    shown.current = { value };
  }, [value]);
  return value;
}

/** Whether two objects have the same values. */
export function isShallowSame<T extends object>(a: T, b: T): boolean {
  if (Object.is(a, b)) return true;
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => Object.is(a[key], b[key]));
}
