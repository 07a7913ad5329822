import { X } from 'lucide-react';
import { Toast } from 'radix-ui';
import { useSyncExternalStore, type ReactNode } from 'react';
import { ChatError } from '../../index.js';
import { Held } from '../../store.js';

interface Notice {
  readonly id: number;
  readonly text: string;
}

const notices = new Held<readonly Notice[]>([]);
const MAX_NOTICES = 3;
let made = 0;

export function notify(text: string): void {
  notices.set([...notices.getSnapshot(), { id: ++made, text }].slice(-MAX_NOTICES));
}

const take = (id: number): void => notices.set(notices.getSnapshot().filter((notice) => notice.id !== id));

/** Says so where it fails. For what a person asked for and waits for nothing of. */
export function attempt(what: string, doing: Promise<unknown>): void {
  doing.catch((error: unknown) => {
    notify(`${what} did not work: ${error instanceof ChatError || error instanceof Error ? error.message : 'unknown'}`);
  });
}

/** Where notices are shown. They go by themselves. */
export function Notices(): ReactNode {
  const shown = useSyncExternalStore(notices.subscribe, notices.getSnapshot);
  return (
    <Toast.Provider duration={6_000} label="Notice">
      {shown.map(({ id, text }) => (
        <Toast.Root
          key={id}
          onOpenChange={(open) => !open && take(id)}
          className="flex animate-appear items-start gap-3 rounded-xl border border-border bg-card px-3.5 py-2.5 text-sm shadow-lg"
        >
          <Toast.Description className="min-w-0 flex-1 break-words">{text}</Toast.Description>
          <Toast.Close aria-label="Close" className="mt-1 text-muted-foreground hover:text-foreground">
            <X size={14} />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2" />
    </Toast.Provider>
  );
}
