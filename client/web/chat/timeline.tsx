import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Virtuoso } from 'react-virtuoso';
import { useChat } from '../../react/index.js';
import { attempt } from '../ui/notices.js';
import { useFirstIndex } from './first-index.js';
import { COLUMN } from './column.js';
import { MessageRow } from './message-row.js';
import { useRows, type Row } from './rows.js';
import type { Stick } from './stick.js';
import { Tail } from './tail.js';

const OLDER_PAGE = 200;
/** So many rows before the first one that is held, the next page is read. */
const NEAR = 20;
const MARGIN = { top: 1_200, bottom: 600 };

const keyOf = (_: number, row: Row): string => row.messageId;
const showRow = (_: number, row: Row): ReactNode => <MessageRow row={row} />;
const COMPONENTS = { Header: Beginning, Footer: Tail };

/** Answers are announced as a whole, not word by word. */
const LOG = { role: 'log', 'aria-label': 'Messages', 'aria-live': 'off' } as const;

/** So many rows are shown at once, before any is measured: until then a list shows nothing. */
const SHORT = 30;

interface TimelineProps {
  readonly chatId: string;
  readonly stick: Stick;
}

export function Timeline({ chatId, stick }: TimelineProps): ReactNode {
  const rows = useRows(chatId);
  if (rows.length > 0) return <Rows rows={rows} stick={stick} />;
  return (
    <div {...LOG} className="min-h-0 flex-1 overflow-y-auto">
      <Beginning />
      <Tail />
    </div>
  );
}

/** The messages of a chat: those that are near what is seen, older ones as they are scrolled to. */
function Rows({ rows, stick }: { rows: readonly Row[]; stick: Stick }): ReactNode {
  const [atFirst] = useState(rows.length);
  const firstItemIndex = useFirstIndex(rows);
  const { hasMore, loadOlder } = useChat();
  const first = useRef(Infinity);
  const look = useCallback(() => {
    if (hasMore && first.current - firstItemIndex < NEAR) attempt('Reading older messages', loadOlder(OLDER_PAGE));
  }, [firstItemIndex, hasMore, loadOlder]);
  // Also when a page was laid that is too short for the reader's haste.
  useEffect(look, [look]);
  return (
    <div className="relative min-h-0 flex-1">
      <Virtuoso
        {...LOG}
        tabIndex={0}
        className="h-full focus-visible:-outline-offset-2"
        data={rows}
        firstItemIndex={firstItemIndex}
        computeItemKey={keyOf}
        itemContent={showRow}
        components={COMPONENTS}
        increaseViewportBy={MARGIN}
        {...(atFirst <= SHORT
          ? { initialItemCount: atFirst }
          : { initialTopMostItemIndex: { index: 'LAST' as const, align: 'end' as const } })}
        scrollerRef={stick.attach}
        totalListHeightChanged={stick.grown}
        rangeChanged={({ startIndex }) => {
          first.current = startIndex;
          look();
        }}
      />
      <ToTheEnd stick={stick} />
    </div>
  );
}

function Beginning(): ReactNode {
  const { hasMore, status } = useChat();
  return (
    <p className={`${COLUMN} h-12 pt-5 text-center text-note text-muted-foreground`}>
      {hasMore ? 'Reading older messages…' : status === 'loading' ? '' : 'This is where it began.'}
    </p>
  );
}

function ToTheEnd({ stick }: { stick: Stick }): ReactNode {
  const isStuck = useSyncExternalStore(stick.isStuck.subscribe, stick.isStuck.getSnapshot);
  if (isStuck) return null;
  return (
    <button
      type="button"
      onClick={stick.stick}
      className="absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 animate-appear items-center gap-1.5 rounded-full border border-border bg-card px-3 text-note shadow-md hover:bg-accent"
    >
      <ArrowDown size={14} aria-hidden /> Newest
    </button>
  );
}
