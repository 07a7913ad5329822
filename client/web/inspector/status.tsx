import type { ReactNode } from 'react';
import { classes } from '../ui/classes.js';

const LOOKS: Readonly<Record<string, string>> = {
  completed: 'text-success',
  running: 'text-primary',
  open: 'text-primary',
  queued: 'text-muted-foreground',
  pending: 'text-muted-foreground',
  interrupted: 'text-warning',
  failed: 'text-destructive',
  deleted: 'text-destructive',
};

const BUSY = new Set(['running', 'open']);

/** How a turn, a step or a message stands. */
export function Status({ status }: { status: string }): ReactNode {
  return (
    <span className={classes('inline-flex items-center gap-1.5 text-xs whitespace-nowrap', LOOKS[status])}>
      <span
        aria-hidden
        className={classes('size-1.5 rounded-full bg-current', BUSY.has(status) && 'animate-breathe')}
      />
      {status}
    </span>
  );
}
