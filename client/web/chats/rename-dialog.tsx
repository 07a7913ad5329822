import type { FormEvent, ReactNode } from 'react';
import type { ChatRow } from '../../index.js';
import { useClient } from '../../react/index.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { FIELD } from '../ui/field.js';
import { attempt } from '../ui/notices.js';

const MAX_TITLE = 500;

interface RenameDialogProps {
  readonly chat: ChatRow;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function RenameDialog({ chat: { chatId, title }, isOpen, onClose }: RenameDialogProps): ReactNode {
  const client = useClient();
  const rename = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('title');
    const next = typeof given === 'string' ? given.trim() : '';
    onClose();
    if (next !== (title ?? '')) {
      attempt('Renaming', client.call('chat:update', { chatId, title: next === '' ? null : next }));
    }
  };
  return (
    <Dialog title="Rename chat" isOpen={isOpen} onClose={onClose}>
      <form onSubmit={rename} className="flex flex-col gap-4">
        <input
          aria-label="Title"
          name="title"
          defaultValue={title ?? ''}
          maxLength={MAX_TITLE}
          autoComplete="off"
          onFocus={(event) => event.target.select()}
          className={FIELD}
        />
        <Button type="submit" look="primary" className="self-end">
          Rename
        </Button>
      </form>
    </Dialog>
  );
}
