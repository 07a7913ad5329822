import { useMemo, useState, type ReactNode } from 'react';
import { classes } from '../ui/classes.js';
import type { Entry } from './log/entry.js';
import { FILTER_FIELD } from './log/filter-bar.js';
import { LogPane } from './log/log-pane.js';
import { useLog } from './log/use-log.js';
import { Scrubber } from './scrubber.js';
import { SourceNotice } from './source-notice.js';
import { TopBar } from './top-bar.js';
import { TurnPane } from './turn/turn-pane.js';
import { useCursor, type Cursor } from './use-cursor.js';
import { useKeys } from './use-keys.js';
import { ViewPane } from './view/view-pane.js';

const PANES = ['Log', 'View', 'Turn'] as const;
type Pane = (typeof PANES)[number];
const FAR = 10;

/** One chat: its log, the view at any place of it, and what a turn did. */
export function Inspection({ chatId }: { chatId: string }): ReactNode {
  const { entries, tip, source, state } = useLog(chatId);
  const cursor = useCursor(entries);
  const [pane, setPane] = useState<Pane>('Log');
  const [pinned, setPinned] = useState<string | null>(null);
  const first = entries[0];
  const entry = first && entries[cursor.id - first.id];
  const view = useMemo(() => source.book.viewAt(cursor.id), [source, cursor.id, entries]);
  const unknownCount = useMemo(() => unknownAt(entries, cursor.id), [entries, cursor.id]);
  useKeys((event) => pressed(event, cursor, first));
  const shown = (name: Pane): string => classes('min-h-0 min-w-0 lg:flex', pane === name ? 'flex' : 'hidden');
  return (
    <div className="flex h-dvh flex-col">
      <TopBar chatId={chatId} entries={entries} tip={tip} view={view} cursor={cursor} state={state} />
      <SourceNotice state={state} isEmpty={entries.length === 0} onAgain={() => source.again()} />
      <Scrubber entries={entries} cursor={cursor} />
      <div role="group" aria-label="Shown" className="flex shrink-0 gap-1 border-b border-border p-1 lg:hidden">
        {PANES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={pane === name}
            onClick={() => setPane(name)}
            className={classes('flex-1 rounded-md py-1 text-sm', pane === name ? 'bg-accent font-medium' : '')}
          >
            {name}
          </button>
        ))}
      </div>
      <main className="grid min-h-0 flex-1 grid-cols-1 grid-rows-1 lg:grid-cols-[minmax(0,4.2fr)_minmax(0,2.9fr)_minmax(0,3.7fr)] lg:divide-x lg:divide-border">
        <div className={shown('Log')}>
          <LogPane entries={entries} cursor={cursor} />
        </div>
        <div className={shown('View')}>
          {entry && view && <ViewPane entry={entry} view={view} unknownCount={unknownCount} />}
        </div>
        <div className={shown('Turn')}>
          {entry && tip && (
            <TurnPane
              chatId={chatId}
              entries={entries}
              tip={tip}
              entry={entry}
              heard={source.heard}
              chosen={pinned}
              onChoose={setPinned}
              onLook={cursor.to}
            />
          )}
        </div>
      </main>
    </div>
  );
}

/** Messages that are left out of the view at an entry. */
function unknownAt(entries: readonly Entry[], id: number): number {
  const start = entries.findLast((entry) => entry.kind === 'start' && entry.id <= id);
  return start?.kind === 'start' ? start.unknown.length : 0;
}

function pressed(event: KeyboardEvent, cursor: Cursor, first: Entry | undefined): boolean {
  const step = event.shiftKey ? FAR : 1;
  switch (event.key) {
    case 'ArrowLeft':
      cursor.by(-step);
      return true;
    case 'ArrowRight':
      cursor.by(step);
      return true;
    case 'Home':
      if (first) cursor.to(first.id);
      return true;
    case 'End':
      cursor.follow();
      return true;
    case '/':
      document.getElementById(FILTER_FIELD)?.focus();
      return true;
    default:
      return false;
  }
}
