import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso';
import type { Cursor } from '../use-cursor.js';
import type { Entry } from './entry.js';
import { FilterBar } from './filter-bar.js';
import { filtered, NO_FILTER } from './log-filter.js';
import { ENTRY_HEIGHT, LogRow, ROW_GRID } from './log-row.js';

interface LogPaneProps {
  readonly entries: readonly Entry[];
  readonly cursor: Cursor;
}

/** The log as a table: what happened, when, in which turn. */
export function LogPane({ entries, cursor }: LogPaneProps): ReactNode {
  const [filter, setFilter] = useState(NO_FILTER);
  const shown = useMemo(() => filtered(entries, filter), [entries, filter]);
  const list = useRef<VirtuosoHandle>(null);
  const { isLive } = cursor;
  const index = useMemo(() => nearest(shown, cursor.id), [shown, cursor.id]);
  const toEnd = (): void => {
    if (isLive) list.current?.scrollToIndex({ index: 'LAST', align: 'end' });
  };
  useEffect(() => {
    if (index < 0) return;
    if (isLive) list.current?.scrollToIndex({ index: 'LAST', align: 'end' });
    else list.current?.scrollIntoView({ index, behavior: 'auto' });
  }, [index, isLive]);
  const move = (event: KeyboardEvent): void => {
    const to = targetOf(event, index, shown.length);
    const entry = to === null ? undefined : shown[to];
    if (!entry) return;
    event.preventDefault();
    cursor.to(entry.id);
  };
  return (
    <section aria-label="Log" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <FilterBar entries={entries} shownCount={shown.length} filter={filter} onFilter={setFilter} />
      <div aria-hidden className={`${ROW_GRID} shrink-0 border-b border-border py-1 text-[11px] text-muted-foreground`}>
        <span className="text-right">offset</span>
        <span className="text-right">after</span>
        <span>event</span>
        <span>turn</span>
        <span>what</span>
      </div>
      {shown.length === 0 ? (
        <p role="status" className="flex-1 px-4 py-6 text-center text-sm text-muted-foreground">
          {entries.length === 0 ? 'Nothing is read yet.' : 'Nothing in the log is like that.'}
        </p>
      ) : (
        <Virtuoso
          ref={list}
          className="min-h-0 flex-1"
          role="listbox"
          aria-label="Events"
          aria-activedescendant={index >= 0 && shown[index] ? `entry-${shown[index].id}` : undefined}
          tabIndex={0}
          onKeyDown={move}
          data={shown}
          fixedItemHeight={ENTRY_HEIGHT}
          initialTopMostItemIndex={{ index: Math.max(0, index), align: 'end' }}
          computeItemKey={(_, entry) => entry.id}
          increaseViewportBy={ENTRY_HEIGHT * 20}
          totalListHeightChanged={toEnd}
          atBottomStateChange={toEnd}
          // Who scrolls back wants to look there.
          onWheel={({ deltaY }) => {
            if (isLive && deltaY < 0) cursor.to(cursor.id);
          }}
          onTouchMove={() => {
            if (isLive) cursor.to(cursor.id);
          }}
          itemContent={(at, entry) => (
            <LogRow
              entry={entry}
              before={shown[at - 1] ?? null}
              isCurrent={entry.id === cursor.id}
              onChoose={cursor.to}
            />
          )}
        />
      )}
    </section>
  );
}

/** The last entry at or before an id; the first one where there is none. */
function nearest(shown: readonly Entry[], id: number): number {
  let low = 0;
  let high = shown.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((shown[middle]?.id ?? 0) <= id) low = middle;
    else high = middle - 1;
  }
  return shown.length === 0 ? -1 : low;
}

const PAGE = 20;

function targetOf({ key }: KeyboardEvent, index: number, count: number): number | null {
  const within = (wanted: number): number => Math.min(count - 1, Math.max(0, wanted));
  switch (key) {
    case 'ArrowDown':
      return within(index + 1);
    case 'ArrowUp':
      return within(index - 1);
    case 'PageDown':
      return within(index + PAGE);
    case 'PageUp':
      return within(index - PAGE);
    default:
      return null;
  }
}
