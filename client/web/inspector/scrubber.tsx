import { ChevronFirst, ChevronLeft, ChevronRight } from 'lucide-react';
import { Slider } from 'radix-ui';
import { useMemo, type ReactNode } from 'react';
import { IconButton } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { LOOK_FILL, lookOf, type EventLook } from './log/colours.js';
import { positionOf, type Entry } from './log/entry.js';
import type { Cursor } from './use-cursor.js';

const COLUMNS = 160;

/** The whole log as a line: what kind of events it is made of, and which of them is looked at. */
export function Scrubber({ entries, cursor }: { entries: readonly Entry[]; cursor: Cursor }): ReactNode {
  const columns = useMemo(() => columnsOf(entries), [entries]);
  const first = entries[0];
  const last = entries.at(-1);
  if (!first || !last) return <div className="h-11 shrink-0 border-b border-border" />;
  const entry = entries[cursor.id - first.id] ?? last;
  const what = entry.kind === 'event' ? entry.event.type : 'a view to begin with';
  return (
    <div className="flex h-11 shrink-0 items-center gap-1 border-b border-border px-2">
      <IconButton label="To the beginning of the log (Home)" size="small" onClick={() => cursor.to(first.id)}>
        <ChevronFirst size={16} />
      </IconButton>
      <IconButton label="One event back (←)" size="small" onClick={() => cursor.by(-1)}>
        <ChevronLeft size={16} />
      </IconButton>
      <IconButton label="One event on (→)" size="small" onClick={() => cursor.by(1)}>
        <ChevronRight size={16} />
      </IconButton>
      <Slider.Root
        className="relative mx-2 flex h-8 min-w-0 flex-1 touch-none items-center select-none"
        min={first.id}
        max={Math.max(last.id, first.id + 1)}
        step={1}
        value={[cursor.id]}
        onValueChange={([id]) => {
          if (id !== undefined) cursor.to(id);
        }}
      >
        <Slider.Track className="relative flex h-5 w-full overflow-hidden rounded bg-muted">
          {columns.map((look, index) => (
            <span key={index} className={classes('h-full flex-1', look && LOOK_FILL[look], look && 'opacity-45')} />
          ))}
        </Slider.Track>
        <Slider.Thumb
          aria-label="Place in the log"
          aria-valuetext={`offset ${positionOf(entry).offset}, ${what}`}
          className="block h-7 w-1.5 rounded-full bg-foreground shadow ring-2 ring-background"
        />
      </Slider.Root>
      <span className="w-28 shrink-0 text-right font-mono text-xs text-muted-foreground tabular-nums max-sm:w-20">
        #{positionOf(entry).offset}
        <span className="max-sm:hidden"> of {positionOf(last).offset}</span>
      </span>
    </div>
  );
}

/** What most of the events of each piece of the log are; what went wrong is always seen. */
function columnsOf(entries: readonly Entry[]): readonly (EventLook | null)[] {
  const count = Math.min(COLUMNS, entries.length);
  return Array.from({ length: count }, (_, column) => {
    const from = Math.floor((column * entries.length) / count);
    const to = Math.floor(((column + 1) * entries.length) / count);
    const counts = new Map<EventLook, number>();
    for (let index = from; index < to; index++) {
      const entry = entries[index];
      if (entry?.kind !== 'event') continue;
      const look = lookOf(entry.event);
      counts.set(look, look === 'bad' ? Infinity : (counts.get(look) ?? 0) + 1);
    }
    return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
  });
}
