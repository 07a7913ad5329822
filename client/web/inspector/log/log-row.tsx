import { memo, type ReactNode } from 'react';
import { classes } from '../../ui/classes.js';
import { durationText } from '../turn/time-scale.js';
import { LOOK_TEXT, lookOf, turnColour } from './colours.js';
import { requestIdOf, type Entry, type Happened, type Start } from './entry.js';
import { eventText, shortId, startText } from './event-text.js';

/** Pixels: all are as high, so that ten thousand of them need not be measured. */
export const ENTRY_HEIGHT = 26;
export const ROW_GRID =
  'grid grid-cols-[2.3rem_3.5rem_8.2rem_3.2rem_minmax(0,1fr)] items-center gap-x-2 px-3 max-sm:grid-cols-[2.3rem_8.2rem_minmax(0,1fr)] max-sm:[&>:nth-child(2)]:hidden max-sm:[&>:nth-child(4)]:hidden';

interface LogRowProps {
  readonly entry: Entry;
  /** The one that is listed before it. */
  readonly before: Entry | null;
  readonly isCurrent: boolean;
  readonly onChoose: (id: number) => void;
}

export const LogRow = memo(function LogRow({ entry, before, isCurrent, onChoose }: LogRowProps): ReactNode {
  return (
    <div
      role="option"
      id={`entry-${entry.id}`}
      aria-selected={isCurrent}
      onClick={() => onChoose(entry.id)}
      style={{ height: ENTRY_HEIGHT }}
      className={classes(
        'cursor-default font-mono text-xs leading-none',
        isCurrent ? 'bg-primary/15 shadow-[inset_2px_0_0_var(--primary)]' : 'hover:bg-accent',
      )}
    >
      {entry.kind === 'start' ? <StartRow start={entry} /> : <EventRow entry={entry} before={before} />}
    </div>
  );
});

function StartRow({ start }: { start: Start }): ReactNode {
  const isBad = start.why === 'misfit' || start.why === 'gap';
  return (
    <div className="flex h-full items-center gap-2 px-3" title={startText(start)}>
      <span className="w-[2.3rem] shrink-0 text-right text-muted-foreground tabular-nums">
        {start.view.position.offset}
      </span>
      <span
        className={classes(
          'min-w-0 truncate rounded px-1.5 py-1 font-sans',
          isBad ? 'bg-destructive-soft text-destructive' : 'bg-muted text-muted-foreground',
        )}
      >
        {startText(start)}
      </span>
    </div>
  );
}

function EventRow({ entry, before }: { entry: Happened; before: Entry | null }): ReactNode {
  const { event } = entry;
  const requestId = requestIdOf(event);
  const since = before?.kind === 'event' ? Date.parse(event.at) - Date.parse(before.event.at) : null;
  return (
    <div className={`${ROW_GRID} h-full`} title={event.at}>
      <span className="text-right text-muted-foreground tabular-nums">{event.offset}</span>
      <span className="text-right whitespace-nowrap text-muted-foreground tabular-nums">
        {since === null ? '' : `+${durationText(Math.max(0, since))}`}
      </span>
      <span className={classes('truncate py-1', LOOK_TEXT[lookOf(event)])}>{event.type}</span>
      <span>
        {requestId !== null && (
          <span className={classes('rounded px-1 py-0.5 text-[11px]', turnColour(requestId))} title={requestId}>
            {shortId(requestId).slice(-6)}
          </span>
        )}
      </span>
      <span className="truncate py-1 whitespace-pre">{eventText(event)}</span>
    </div>
  );
}
