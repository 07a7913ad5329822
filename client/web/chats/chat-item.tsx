import { Ellipsis, Globe, Users } from 'lucide-react';
import { useState, type MouseEvent, type ReactNode } from 'react';
import type { ChatRow } from '../../index.js';
import { mayChange } from '../chat/use-may-talk.js';
import { chatPath } from '../paths.js';
import { navigate } from '../route.js';
import { useHello } from '../session/session-provider.js';
import { classes } from '../ui/classes.js';
import { ChatMenu } from './chat-menu.js';
import { ShareDialog } from './share-dialog.js';
import { titleOf } from './title.js';

interface ChatItemProps {
  readonly chat: ChatRow;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

export function ChatItem({ chat, isOpen, onOpen }: ChatItemProps): ReactNode {
  const user = useHello()?.user;
  const [isSharing, setSharing] = useState(false);
  const path = chatPath(chat.chatId);
  const open = (event: MouseEvent): void => {
    // With a key held the browser opens it elsewhere.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(path);
    onOpen();
  };
  return (
    <div role="listitem" className="px-2 py-px">
      <div
        className={classes(
          'group flex items-center rounded-lg pr-1 hover:bg-accent focus-within:bg-accent',
          isOpen && 'bg-accent',
        )}
      >
        <a
          href={path}
          onClick={open}
          aria-current={isOpen ? 'page' : undefined}
          className="flex min-w-0 flex-1 items-center gap-2 rounded-lg px-3 py-2 text-sm"
        >
          <span className="min-w-0 flex-1 truncate">{titleOf(chat)}</span>
          {chat.public ? (
            <Globe size={13} className="shrink-0 text-muted-foreground" aria-label="Everybody here" />
          ) : (
            chat.share === 'team' && <Users size={13} className="shrink-0 text-muted-foreground" aria-label="My team" />
          )}
        </a>
        <ChatMenu
          chat={chat}
          mayChange={user !== undefined && mayChange(chat, user)}
          onShare={() => setSharing(true)}
          trigger={
            <button
              type="button"
              aria-label={`More about ${titleOf(chat)}`}
              className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted-foreground opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 hover:text-foreground data-[state=open]:opacity-100 pointer-coarse:opacity-100"
            >
              <Ellipsis size={16} />
            </button>
          }
        />
      </div>
      <ShareDialog chat={chat} isOpen={isSharing} onClose={() => setSharing(false)} />
    </div>
  );
}
