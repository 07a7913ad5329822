import { useState } from 'react';

/** What a reader has unfolded on this page. A row of a long list is made anew each time it is scrolled to, and asks here. */
const unfolded = new Set<string>();

/** Whether what has this id is unfolded, and what to call when it is another way. @param id unique on the page */
export function useUnfolded(id: string): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(() => unfolded.has(id));
  const change = (next: boolean): void => {
    if (next) unfolded.add(id);
    else unfolded.delete(id);
    setOpen(next);
  };
  return [isOpen, change];
}
