import { useEffect, useEffectEvent } from 'react';

/** Where a key already means something. */
const TAKEN =
  'input, textarea, select, [contenteditable], [role="slider"], [role="menu"], [role="dialog"], [role="tablist"]';

/** Keys that mean the same wherever one is on the page, but for fields and the like. True: it was for us. */
export function useKeys(pressed: (event: KeyboardEvent) => boolean): void {
  const listened = useEffectEvent((event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest(TAKEN)) return;
    if (pressed(event)) event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => listened(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
