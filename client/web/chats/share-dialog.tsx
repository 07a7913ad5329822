import { RadioGroup } from 'radix-ui';
import type { ReactNode } from 'react';
import type { ChatRow } from '../../index.js';
import { useClient } from '../../react/index.js';
import { chatPath } from '../paths.js';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import { FIELD } from '../ui/field.js';
import { attempt } from '../ui/notices.js';

const WAYS = [
  { value: 'private', title: 'Only me', text: 'Nobody else sees it.', patch: { share: 'private', public: false } },
  { value: 'team', title: 'My team', text: 'They read it and talk in it.', patch: { share: 'team', public: false } },
  {
    value: 'public',
    title: 'Everybody here',
    text: 'Whoever has the link reads it; my team talks in it.',
    patch: { share: 'team', public: true },
  },
] as const;

const wayOf = ({ share, public: isPublic }: ChatRow): string => (isPublic ? 'public' : share);

interface ShareDialogProps {
  readonly chat: ChatRow;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Who may see a chat. What is chosen holds at once, also for those who are in it. */
export function ShareDialog({ chat, isOpen, onClose }: ShareDialogProps): ReactNode {
  const client = useClient();
  const link = location.origin + chatPath(chat.chatId);
  const choose = (value: string): void => {
    const way = WAYS.find((one) => one.value === value);
    if (way) attempt('Sharing', client.call('chat:update', { chatId: chat.chatId, ...way.patch }));
  };
  return (
    <Dialog title="Share chat" text="Who else may see it. It can be taken back." isOpen={isOpen} onClose={onClose}>
      <RadioGroup.Root value={wayOf(chat)} onValueChange={choose} aria-label="Who may see it" className="grid gap-2">
        {WAYS.map(({ value, title, text }) => (
          <RadioGroup.Item
            key={value}
            value={value}
            className="group flex items-center gap-3 rounded-xl border border-border px-3.5 py-2.5 text-left hover:bg-accent data-[state=checked]:border-primary"
          >
            <span className="flex size-4 shrink-0 items-center justify-center rounded-full border border-input group-data-[state=checked]:border-primary">
              <RadioGroup.Indicator className="size-2 rounded-full bg-primary" />
            </span>
            <span>
              <span className="block text-sm font-medium">{title}</span>
              <span className="block text-note text-muted-foreground">{text}</span>
            </span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
      <div className="mt-4 flex items-center gap-2">
        <input aria-label="Link" readOnly value={link} className={FIELD} onFocus={(event) => event.target.select()} />
        <CopyButton label="Copy link" text={() => link} />
      </div>
    </Dialog>
  );
}
