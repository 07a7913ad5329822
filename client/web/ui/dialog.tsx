import { X } from 'lucide-react';
import { AlertDialog, Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { returnFocus, useInertPage } from './behind-dialog.js';
import { Button } from './button.js';
import { classes } from './classes.js';

const SHADE = 'fixed inset-0 z-40 bg-shade';
const BOX =
  'fixed top-1/2 left-1/2 z-50 max-h-[90dvh] w-[min(28rem,calc(100vw-2rem))] -translate-1/2 overflow-y-auto rounded-2xl border border-border bg-card p-5 shadow-2xl';
const TITLE = 'text-base font-semibold';
const TEXT = 'mt-1 text-sm text-muted-foreground';

interface DialogProps {
  readonly title: string;
  readonly text?: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, text, isOpen, onClose, children }: DialogProps): ReactNode {
  useInertPage(isOpen);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={SHADE} />
        <Radix.Content
          className={BOX}
          onCloseAutoFocus={returnFocus}
          {...(text === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <Radix.Title className={TITLE}>{title}</Radix.Title>
          {text !== undefined && <Radix.Description className={TEXT}>{text}</Radix.Description>}
          <div className="mt-4">{children}</div>
          {/* Last, so that what one came for has the focus first. */}
          <Radix.Close
            aria-label="Close"
            className="absolute top-3.5 right-3.5 inline-flex size-7 items-center justify-center rounded-lg text-muted-foreground hover:bg-accent hover:text-foreground"
          >
            <X size={16} />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly verb: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** Asks before something is done that cannot be undone. */
export function Confirm({ title, text, verb, isOpen, onClose, onConfirm }: ConfirmProps): ReactNode {
  useInertPage(isOpen);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={SHADE} />
        <AlertDialog.Content className={BOX} onCloseAutoFocus={returnFocus}>
          <AlertDialog.Title className={TITLE}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={classes(TEXT, 'break-words')}>{text}</AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button look="danger" onClick={onConfirm}>
                {verb}
              </Button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** What slides in from the left where there is no room beside the page. */
export function Drawer({ title, isOpen, onClose, children }: Omit<DialogProps, 'text'>): ReactNode {
  useInertPage(isOpen);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={SHADE} />
        <Radix.Content
          aria-describedby={undefined}
          // The first thing in it is not what one came for.
          tabIndex={-1}
          onCloseAutoFocus={returnFocus}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            (event.currentTarget as HTMLElement).focus();
          }}
          className="fixed inset-y-0 left-0 z-50 flex w-[min(19rem,85vw)] flex-col bg-sidebar shadow-2xl outline-none"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
