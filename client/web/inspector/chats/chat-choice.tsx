import { ArrowRight, Search } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Virtuoso } from 'react-virtuoso';
import type { ChatRow } from '../../../index.js';
import { useChats, type ChatsOptions } from '../../../react/index.js';
import { titleOf } from '../../chats/title.js';
import { isChatId } from '../../paths.js';
import { Person } from '../../session/person.js';
import { classes } from '../../ui/classes.js';
import { FIELD } from '../../ui/field.js';
import { useSettled } from '../../ui/use-after.js';
import { inspect } from '../route.js';

const SEARCH_MS = 200;
const PAGE = 50;
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface ChatChoiceProps {
  readonly openChatId: string | null;
  readonly onChosen: () => void;
}

/** All chats that one may read, by recency, found by title or named by id. */
export function ChatChoice({ openChatId, onChosen }: ChatChoiceProps): ReactNode {
  const [words, setWords] = useState('');
  const keywords = useSettled(words.trim(), SEARCH_MS);
  const query: ChatsOptions = { scope: 'all', pageSize: PAGE, ...(keywords === '' ? {} : { keywords }) };
  const { status, chats, hasMore, error, loadMore } = useChats(query);
  const named = words.trim();
  const choose = (chatId: string): void => {
    inspect(chatId);
    onChosen();
  };
  const empty = status === 'loading' ? '' : (error?.message ?? 'No title of a chat that you may read has these words.');
  return (
    <>
      <div className="relative shrink-0 border-b border-border p-2">
        <Search size={15} aria-hidden className="absolute top-1/2 left-5 -translate-y-1/2 text-muted-foreground" />
        <input
          type="search"
          aria-label="Search titles, or name a chat by its id"
          placeholder="Words of a title, or an id"
          value={words}
          maxLength={200}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            const first = chats[0]?.chatId ?? named;
            if (event.key === 'Enter' && isChatId(first) && named !== '') choose(first);
          }}
          className={`${FIELD} pl-9`}
        />
      </div>
      {isChatId(named) && (
        <button
          type="button"
          onClick={() => choose(named)}
          className="flex shrink-0 items-center gap-2 border-b border-border px-5 py-2 text-left text-sm hover:bg-accent focus-visible:-outline-offset-2"
        >
          <ArrowRight size={15} aria-hidden className="shrink-0 text-muted-foreground" />
          <span className="shrink-0">The chat with the id</span>
          <span className="min-w-0 truncate font-mono text-note">{named}</span>
        </button>
      )}
      {chats.length === 0 ? (
        <p role="status" className="flex-1 px-5 py-6 text-center text-sm text-muted-foreground">
          {empty}
        </p>
      ) : (
        <Virtuoso
          className="min-h-0 flex-1"
          tabIndex={-1}
          role="list"
          aria-label="Chats"
          data={chats}
          computeItemKey={(_, chat) => chat.chatId}
          endReached={() => {
            if (hasMore) void loadMore();
          }}
          itemContent={(_, chat) => <Choice chat={chat} isOpen={chat.chatId === openChatId} onChoose={choose} />}
        />
      )}
      <Person />
    </>
  );
}

function Choice(props: { chat: ChatRow; isOpen: boolean; onChoose: (chatId: string) => void }): ReactNode {
  const { chat, isOpen, onChoose } = props;
  return (
    <div role="listitem">
      <button
        type="button"
        aria-current={isOpen ? 'page' : undefined}
        onClick={() => onChoose(chat.chatId)}
        className={classes(
          'block w-full px-5 py-2 text-left hover:bg-accent focus-visible:-outline-offset-2',
          isOpen && 'bg-accent',
        )}
      >
        <span className="flex items-baseline gap-3">
          <span className="min-w-0 flex-1 truncate text-sm">{titleOf(chat)}</span>
          <span className="shrink-0 text-xs text-muted-foreground">
            {time.format(new Date(chat.lastMessageAt ?? chat.createdAt))}
          </span>
        </span>
        <span className="block truncate font-mono text-xs text-muted-foreground">
          {chat.chatId} · {chat.assistantId}
        </span>
      </button>
    </div>
  );
}
