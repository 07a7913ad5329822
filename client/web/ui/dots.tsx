import type { ReactNode } from 'react';

/** Something is under way. What it is has to be said beside it. */
export function Dots(): ReactNode {
  return (
    <span className="inline-flex items-center gap-1" aria-hidden>
      <span className="size-1.5 animate-breathe rounded-full bg-muted-foreground" />
      <span className="size-1.5 animate-breathe rounded-full bg-muted-foreground [animation-delay:200ms]" />
      <span className="size-1.5 animate-breathe rounded-full bg-muted-foreground [animation-delay:400ms]" />
    </span>
  );
}
