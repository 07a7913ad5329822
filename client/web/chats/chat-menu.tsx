import { Archive, ArchiveRestore, Pencil, ScanSearch, Share2, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { ChatRow } from '../../index.js';
import { useClient } from '../../react/index.js';
import { inspectorPath } from '../paths.js';
import { navigate, useRoute } from '../route.js';
import { Confirm } from '../ui/dialog.js';
import { Menu, MenuItem, MenuLine, MenuLink } from '../ui/menu.js';
import { attempt } from '../ui/notices.js';
import { RenameDialog } from './rename-dialog.js';
import { titleOf } from './title.js';

interface ChatMenuProps {
  readonly chat: ChatRow;
  readonly mayChange: boolean;
  readonly onShare: () => void;
  readonly trigger: ReactNode;
}

/** What can be done with a chat as a whole. */
export function ChatMenu({ chat, mayChange, onShare, trigger }: ChatMenuProps): ReactNode {
  const client = useClient();
  const route = useRoute();
  const [asked, setAsked] = useState<'rename' | 'delete' | null>(null);
  const { chatId, status } = chat;
  const isArchived = status === 'archived';
  const close = (): void => setAsked(null);
  const archive = (): void => {
    const next = isArchived ? 'active' : 'archived';
    attempt(isArchived ? 'Taking it back' : 'Archiving', client.call('chat:update', { chatId, status: next }));
  };
  const remove = (): void => {
    if (route.page === 'chat' && route.chatId === chatId) navigate('/', { replace: true });
    attempt('Deleting', client.call('chat:delete', { chatId }));
  };
  return (
    <>
      <Menu trigger={trigger}>
        {mayChange && (
          <>
            <MenuItem icon={<Pencil size={15} />} onSelect={() => setAsked('rename')}>
              Rename
            </MenuItem>
            <MenuItem icon={<Share2 size={15} />} onSelect={onShare}>
              Share
            </MenuItem>
            <MenuItem icon={isArchived ? <ArchiveRestore size={15} /> : <Archive size={15} />} onSelect={archive}>
              {isArchived ? 'Take out of the archive' : 'Archive'}
            </MenuItem>
          </>
        )}
        <MenuLink icon={<ScanSearch size={15} />} href={inspectorPath(chatId)}>
          Inspect
        </MenuLink>
        {mayChange && (
          <>
            <MenuLine />
            <MenuItem icon={<Trash2 size={15} />} isDanger onSelect={() => setAsked('delete')}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <RenameDialog chat={chat} isOpen={asked === 'rename'} onClose={close} />
      <Confirm
        title="Delete this chat?"
        text={`“${titleOf(chat)}” goes with all that was said in it, for good and for everybody.`}
        verb="Delete"
        isOpen={asked === 'delete'}
        onClose={close}
        onConfirm={remove}
      />
    </>
  );
}
