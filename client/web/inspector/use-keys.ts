import { useEffect, useRef } from 'react';

/** Where a key already means something. */
const TAKEN =
  'input, textarea, select, [contenteditable], [role="slider"], [role="menu"], [role="dialog"], [role="tablist"]';

/** Keys that mean the same wherever one is on the page, but for fields and the like. True: it was for us. */
export function useKeys(pressed: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(pressed);
  useEffect(() => {
    latest.current = pressed;
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(TAKEN)) return;
      if (latest.current(event)) event.preventDefault();
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
