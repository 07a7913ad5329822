import { Ellipsis, PanelLeft, Share2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { ChatRow, ChatSnapshot } from '../../index.js';
import { useChatSnapshot } from '../../react/index.js';
import { ChatMenu } from '../chats/chat-menu.js';
import { ShareDialog } from '../chats/share-dialog.js';
import { titleOf } from '../chats/title.js';
import { useHello } from '../session/session-provider.js';
import { IconButton } from '../ui/button.js';
import { useAssistantName } from './assistant-name.js';
import { ConnectionPoint } from './connection-notice.js';
import { WhoIsHere } from './presence.js';
import { mayChange } from './use-may-talk.js';

const chatOf = ({ chat, status }: ChatSnapshot): ChatRow | null => (status === 'ended' ? null : chat);

interface ChatHeaderProps {
  /** Opens the list of chats, where it is not beside the chat. */
  readonly onList: (() => void) | null;
}

export function ChatHeader({ onList }: ChatHeaderProps): ReactNode {
  const chat = useChatSnapshot(chatOf);
  const assistant = useAssistantName();
  const user = useHello()?.user;
  const [isSharing, setSharing] = useState(false);
  const isMine = chat !== null && user !== undefined && mayChange(chat, user);
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-border px-3">
      {onList && (
        <IconButton label="Chats" onClick={onList}>
          <PanelLeft size={18} />
        </IconButton>
      )}
      <div className="min-w-0 flex-1 px-1">
        <h1 className="truncate text-[15px] leading-tight font-semibold">{chat ? titleOf(chat) : 'New chat'}</h1>
        {chat && (
          <p className="truncate text-note leading-tight text-muted-foreground">
            {assistant}
            {chat.createdBy !== user?.userId && ` · ${chat.createdBy}’s chat`}
            {chat.status === 'archived' && ' · archived'}
          </p>
        )}
      </div>
      {chat && <WhoIsHere />}
      <ConnectionPoint />
      {chat && isMine && (
        <IconButton label="Share" onClick={() => setSharing(true)}>
          <Share2 size={17} />
        </IconButton>
      )}
      {chat && (
        <ChatMenu
          chat={chat}
          mayChange={isMine}
          onShare={() => setSharing(true)}
          trigger={
            <IconButton label="More">
              <Ellipsis size={18} />
            </IconButton>
          }
        />
      )}
      {chat && <ShareDialog chat={chat} isOpen={isSharing} onClose={() => setSharing(false)} />}
    </header>
  );
}
