import { useEffect } from 'react';

const page = document.getElementById('page');
/** What had the focus in the page last: neither in a menu nor in a dialog, which stand beside it. */
let last: HTMLElement | null = null;
let open = 0;

page?.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement) last = target;
});

/** While something is open that has to be closed first, nothing else can be reached: not by keys either. */
export function useInertPage(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen || !page) return;
    open++;
    page.inert = true;
    return () => {
      page.inert = --open > 0;
    };
  }, [isOpen]);
}

/** Gives the focus back to where it was, also where the dialog was opened from a menu that is gone. */
export function returnFocus(event: Event): void {
  if (!last?.isConnected) return;
  event.preventDefault();
  last.focus();
}
