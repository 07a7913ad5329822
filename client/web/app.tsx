import { useState, type ReactNode } from 'react';
import { ChatPage } from './chat/chat-page.js';
import { Gone } from './chat/gone.js';
import { useNewId } from './chat/use-new-id.js';
import { Sidebar } from './chats/sidebar.js';
import { useRoute } from './route.js';
import { Drawer } from './ui/dialog.js';
import { useWide } from './ui/use-wide.js';

/** The page to chat in: the chats, and one of them. */
export function App(): ReactNode {
  const route = useRoute();
  const isWide = useWide();
  const [isListOpen, setListOpen] = useState(false);
  const newId = useNewId(route.page === 'new' ? route.visit : null);
  const chatId = route.page === 'chat' ? route.chatId : newId;
  const openChatId = route.page === 'chat' ? chatId : null;
  const closeList = (): void => setListOpen(false);
  return (
    <div className="flex h-dvh">
      <a
        href="#chat"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-foreground px-3 py-2 text-sm text-background focus:translate-y-0"
      >
        To the chat
      </a>
      {isWide && (
        <div className="flex w-68 shrink-0 flex-col border-r border-border bg-sidebar">
          <Sidebar openChatId={openChatId} onChosen={closeList} />
        </div>
      )}
      <Drawer title="Chats" isOpen={!isWide && isListOpen} onClose={closeList}>
        <Sidebar openChatId={openChatId} onChosen={closeList} />
      </Drawer>
      <div className="flex min-w-0 flex-1 flex-col">
        {route.page === 'unknown' ? (
          <main id="chat" className="flex flex-1">
            <Gone reason="not_found" error={null} />
          </main>
        ) : (
          <ChatPage
            key={chatId}
            chatId={chatId}
            // What began here goes on here: its own address says the same chat.
            isNew={chatId === newId}
            onList={isWide ? null : () => setListOpen(true)}
          />
        )}
      </div>
    </div>
  );
}
