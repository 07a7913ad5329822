import type { ReactNode } from 'react';
import { byName } from './by-name.js';
import { classes } from './classes.js';

const COLOURS = [
  'bg-indigo-100 text-indigo-900 dark:bg-indigo-900 dark:text-indigo-100',
  'bg-emerald-100 text-emerald-900 dark:bg-emerald-900 dark:text-emerald-100',
  'bg-amber-100 text-amber-900 dark:bg-amber-900 dark:text-amber-100',
  'bg-rose-100 text-rose-900 dark:bg-rose-900 dark:text-rose-100',
  'bg-sky-100 text-sky-900 dark:bg-sky-900 dark:text-sky-100',
  'bg-violet-100 text-violet-900 dark:bg-violet-900 dark:text-violet-100',
] as const;

/** A person's first letter. The name has to stand beside it, or be said otherwise. */
export function Avatar({ name, className }: { name: string; className?: string }): ReactNode {
  const shape = 'inline-flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold uppercase';
  return (
    <span aria-hidden className={classes(shape, byName(name, COLOURS), className)}>
      {[...name][0]}
    </span>
  );
}
