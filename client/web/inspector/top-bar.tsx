import { ArrowUpRight, ChevronsUpDown, FlaskConical, Pause, Play } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { ChatView } from '../../../protocol/index.js';
import { titleOf } from '../chats/title.js';
import icon from '../icon.svg';
import { chatPath } from '../paths.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { copy } from '../ui/clipboard.js';
import { Dialog } from '../ui/dialog.js';
import { notify } from '../ui/notices.js';
import { ChatChoice } from './chats/chat-choice.js';
import type { Entry } from './log/entry.js';
import type { SourceState } from './log/log-source.js';
import { testCase } from './test-case.js';
import type { Cursor } from './use-cursor.js';

interface TopBarProps {
  readonly chatId: string;
  readonly entries: readonly Entry[];
  readonly tip: ChatView | null;
  /** At the cursor. */
  readonly view: ChatView | null;
  readonly cursor: Cursor;
  readonly state: SourceState;
}

export function TopBar({ chatId, entries, tip, view, cursor, state }: TopBarProps): ReactNode {
  const [isChoosing, setChoosing] = useState(false);
  const newer = (entries.at(-1)?.id ?? -1) - cursor.id;
  const close = (): void => setChoosing(false);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-border bg-sidebar px-3">
      <img src={icon} alt="" className="size-5 shrink-0" />
      <h1 className="text-sm font-semibold tracking-tight max-sm:sr-only">Inspector</h1>
      <Button look="quiet" size="small" className="min-w-0 !shrink" onClick={() => setChoosing(true)}>
        <span className="min-w-0 truncate text-foreground">{tip ? titleOf(tip.chat) : chatId}</span>
        <ChevronsUpDown size={13} aria-hidden className="shrink-0" />
        <span className="sr-only">: choose another chat</span>
      </Button>
      <a
        href={chatPath(chatId)}
        className="inline-flex items-center gap-0.5 rounded-md px-1.5 py-1 text-note text-muted-foreground hover:bg-accent hover:text-foreground max-sm:hidden"
      >
        chat
        <ArrowUpRight size={13} aria-hidden />
      </a>
      <span className="flex-1" />
      {tip && (
        <span className="font-mono text-xs text-muted-foreground max-lg:hidden" title="The life of the log">
          epoch {tip.position.epoch.slice(0, 12)}
        </span>
      )}
      <Button size="small" disabled={!view} onClick={() => view && copy(testCase(entries, cursor.id, view), told)}>
        <FlaskConical size={14} aria-hidden />
        <span className="max-sm:sr-only">Copy as a test case</span>
      </Button>
      <Button
        size="small"
        aria-pressed={cursor.isLive}
        className="w-34 max-sm:w-auto"
        onClick={() => (cursor.isLive ? cursor.to(cursor.id) : cursor.follow())}
      >
        {cursor.isLive ? <Pause size={13} aria-hidden /> : <Play size={13} aria-hidden />}
        {cursor.isLive ? <Live state={state} /> : newer > 0 ? `${newer} newer` : 'Follow'}
      </Button>
      <Dialog title="Inspect a chat" isOpen={isChoosing} onClose={close}>
        <div className="-mx-5 -mb-5 flex h-[60dvh] flex-col border-t border-border">
          <ChatChoice openChatId={chatId} onChosen={close} />
        </div>
      </Dialog>
    </header>
  );
}

const told = (): void => notify('Copied: a test for vitest, of the log up to here.');

function Live({ state }: { state: SourceState }): ReactNode {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span
        aria-hidden
        className={classes(
          'size-1.5 rounded-full',
          state.status === 'live' ? 'animate-breathe bg-success' : 'bg-muted-foreground',
        )}
      />
      {state.status}
    </span>
  );
}
