import { ChevronRight } from 'lucide-react';
import { Collapsible } from 'radix-ui';
import type { ReactNode } from 'react';
import { useUnfolded } from './unfolded.js';

interface FoldProps {
  /** Unique on the page: by it a fold is found open again when it was scrolled out of sight. */
  readonly id: string;
  readonly icon: ReactNode;
  readonly title: ReactNode;
  /** At the right end of the line. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** One line that opens to more. */
export function Fold({ id, icon, title, note, children }: FoldProps): ReactNode {
  const [isOpen, setOpen] = useUnfolded(id);
  return (
    <Collapsible.Root
      open={isOpen}
      onOpenChange={setOpen}
      className="my-1 overflow-hidden rounded-xl border border-border bg-card text-sm"
    >
      <Collapsible.Trigger className="group flex w-full min-w-0 items-center gap-2.5 px-3 py-2 text-left hover:bg-accent focus-visible:-outline-offset-2">
        <span className="shrink-0 text-muted-foreground" aria-hidden>
          {icon}
        </span>
        <span className="min-w-0 flex-1 truncate">{title}</span>
        {note}
        <ChevronRight
          size={15}
          aria-hidden
          className="shrink-0 text-muted-foreground transition-transform group-data-[state=open]:rotate-90"
        />
      </Collapsible.Trigger>
      <Collapsible.Content className="border-t border-border px-3 py-2.5">{children}</Collapsible.Content>
    </Collapsible.Root>
  );
}
