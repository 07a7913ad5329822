import { useMemo, useState, type ReactNode } from 'react';
import { Virtuoso } from 'react-virtuoso';
import type { ChatRow } from '../../index.js';
import { useChats, type ChatsOptions } from '../../react/index.js';
import { Button } from '../ui/button.js';
import { useNow } from '../ui/use-after.js';
import { ageOf } from './age.js';
import { ChatItem } from './chat-item.js';

type Entry = { readonly heading: string } | { readonly chat: ChatRow };

const PAGE = 30;
const MINUTE_MS = 60_000;

const keyOf = (_: number, entry: Entry): string => ('chat' in entry ? entry.chat.chatId : `# ${entry.heading}`);

function entriesOf(chats: readonly ChatRow[], now: number): readonly Entry[] {
  const entries: Entry[] = [];
  let heading = '';
  for (const chat of chats) {
    const age = ageOf(chat.lastMessageAt ?? chat.createdAt, now);
    if (age !== heading) entries.push({ heading: age });
    heading = age;
    entries.push({ chat });
  }
  return entries;
}

interface ChatListProps {
  readonly query: ChatsOptions;
  readonly openChatId: string | null;
  readonly onOpen: () => void;
}

/** Chats by recency, more of them as they are scrolled to. */
export function ChatList({ query, openChatId, onOpen }: ChatListProps): ReactNode {
  const { status, chats: read, hasMore, error, loadMore, refresh } = useChats({ ...query, pageSize: PAGE });
  // While another list is being read the one before stands.
  const [chats, setChats] = useState(read);
  if (status !== 'loading' && chats !== read) setChats(read);
  const now = useNow(MINUTE_MS);
  const day = new Date(now).toDateString();
  // Headings change with the day, not with the minute.
  const entries = useMemo(() => entriesOf(chats, now), [chats, day]);
  if (entries.length === 0) {
    const isRefused = status === 'refused';
    const text = status === 'loading' ? '' : isRefused ? (error?.message ?? '') : emptyText(query);
    return (
      <div className="flex-1 px-4 py-6 text-center text-sm text-muted-foreground">
        <p role="status">{text}</p>
        {isRefused && (
          <Button size="small" className="mt-3" onClick={() => void refresh()}>
            Read again
          </Button>
        )}
      </div>
    );
  }
  return (
    <Virtuoso
      className="flex-1"
      tabIndex={-1}
      role="list"
      aria-label="Chats"
      data={entries}
      computeItemKey={keyOf}
      increaseViewportBy={400}
      endReached={() => {
        if (hasMore) void loadMore();
      }}
      itemContent={(_, entry) =>
        'chat' in entry ? (
          <ChatItem chat={entry.chat} isOpen={entry.chat.chatId === openChatId} onOpen={onOpen} />
        ) : (
          <div className="px-5 pt-4 pb-1 text-xs font-medium text-muted-foreground">{entry.heading}</div>
        )
      }
    />
  );
}

function emptyText({ keywords, status, scope }: ChatsOptions): string {
  if (keywords) return 'No title has these words.';
  if (status === 'archived') return 'Nothing is archived.';
  return scope === 'mine' ? 'Your chats will be here.' : 'Nothing is shared here yet.';
}
