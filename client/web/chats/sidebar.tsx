import { ListFilter, Search, SquarePen } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import type { ChatsOptions } from '../../react/index.js';
import icon from '../icon.svg';
import { navigate } from '../route.js';
import { Person } from '../session/person.js';
import { IconButton } from '../ui/button.js';
import { FIELD } from '../ui/field.js';
import { Menu, MenuChoice } from '../ui/menu.js';
import { useSettled } from '../ui/use-after.js';
import { ChatList } from './chat-list.js';

const SEARCH_MS = 200;

const LISTS = {
  mine: { text: 'My chats', query: { scope: 'mine', status: 'active' } },
  team: { text: 'My team’s', query: { scope: 'team', status: 'active' } },
  public: { text: 'Everybody’s', query: { scope: 'public', status: 'active' } },
  archived: { text: 'My archive', query: { scope: 'mine', status: 'archived' } },
} as const satisfies Record<string, { readonly text: string; readonly query: ChatsOptions }>;
type ListName = keyof typeof LISTS;

const CHOICES = (Object.keys(LISTS) as ListName[]).map((value) => ({ value, text: LISTS[value].text }));

interface SidebarProps {
  readonly openChatId: string | null;
  /** Called when something was chosen. */
  readonly onChosen: () => void;
}

/** The chats, and who one is. */
export function Sidebar({ openChatId, onChosen }: SidebarProps): ReactNode {
  const [list, setList] = useState<ListName>('mine');
  const [words, setWords] = useState('');
  const keywords = useSettled(words.trim(), SEARCH_MS);
  const field = useRef<HTMLInputElement>(null);
  useKey('k', () => field.current?.focus());
  const query: ChatsOptions = { ...LISTS[list].query, ...(keywords === '' ? {} : { keywords }) };
  const begin = (): void => {
    navigate('/');
    onChosen();
  };
  return (
    <nav aria-label="Chats" className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-14 shrink-0 items-center gap-2 pr-3 pl-5">
        <img src={icon} alt="" className="size-5" />
        <span className="flex-1 text-[15px] font-semibold tracking-tight">Turnstream</span>
        <IconButton label="New chat" onClick={begin}>
          <SquarePen size={18} />
        </IconButton>
      </div>
      <div className="flex items-center gap-1 px-3 pb-1">
        <div className="relative min-w-0 flex-1">
          <Search
            size={15}
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted-foreground"
          />
          <input
            ref={field}
            type="search"
            aria-label="Search titles"
            placeholder="Search"
            value={words}
            maxLength={200}
            onChange={(event) => setWords(event.target.value)}
            className={`${FIELD} pl-8`}
          />
        </div>
        <Menu
          trigger={
            <IconButton label={`Shown: ${LISTS[list].text}`}>
              <ListFilter size={17} />
            </IconButton>
          }
        >
          <MenuChoice label="Show" value={list} choices={CHOICES} onChoose={setList} />
        </Menu>
      </div>
      {list !== 'mine' && <p className="px-5 pt-1 text-note text-muted-foreground">{LISTS[list].text}</p>}
      <ChatList query={query} openChatId={openChatId} onOpen={onChosen} />
      <Person />
    </nav>
  );
}

/** Ctrl or Cmd and a key, wherever one is. */
function useKey(key: string, pressed: () => void): void {
  const called = useEffectEvent(pressed);
  useEffect(() => {
    const listener = (event: globalThis.KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== key) return;
      event.preventDefault();
      called();
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, [key]);
}
