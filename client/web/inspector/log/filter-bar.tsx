import { ListFilter, Search, X } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { chatEvent } from '../../../../protocol/index.js';
import { Button, IconButton } from '../../ui/button.js';
import { FIELD } from '../../ui/field.js';
import { Menu, MenuChoice } from '../../ui/menu.js';
import { requestIdOf, type Entry } from './entry.js';
import { shortId } from './event-text.js';
import { NO_FILTER, type LogFilter } from './log-filter.js';

const TYPES: readonly string[] = chatEvent.options.map((option) => option.shape.type.value);
const GROUPS = [...new Set(TYPES.map((type) => type.replace(/\..*/, '')))];
const TYPE_CHOICES = [
  { value: '', text: 'All events' },
  ...GROUPS.flatMap((group) => [
    { value: group, text: `${group}.*` },
    ...TYPES.filter((type) => type.startsWith(`${group}.`)).map((type) => ({
      value: type,
      text: <Deep text={type} />,
    })),
  ]),
];
const MAX_TURNS = 30;

interface FilterBarProps {
  readonly entries: readonly Entry[];
  readonly shownCount: number;
  readonly filter: LogFilter;
  readonly onFilter: (filter: LogFilter) => void;
}

export const FILTER_FIELD = 'log-filter';

/** Which part of the log is listed: by words, by type, by turn. */
export function FilterBar({ entries, shownCount, filter, onFilter }: FilterBarProps): ReactNode {
  const turns = useMemo(() => turnsOf(entries), [entries]);
  const isOn = filter.type !== '' || filter.turn !== '' || filter.text !== '';
  const turnChoices = [
    { value: '', text: 'All turns' },
    ...turns.map((requestId) => ({ value: requestId, text: <span className="font-mono">{shortId(requestId)}</span> })),
  ];
  return (
    <div className="flex shrink-0 items-center gap-1.5 border-b border-border p-2">
      <div className="relative min-w-0 flex-1">
        <Search size={14} aria-hidden className="absolute top-1/2 left-2.5 -translate-y-1/2 text-muted-foreground" />
        <input
          id={FILTER_FIELD}
          type="search"
          aria-label="Words that stand in an event"
          placeholder="Filter ( / )"
          value={filter.text}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onFilter({ ...filter, text: event.target.value })}
          className={`${FIELD} !h-7 pl-8`}
        />
      </div>
      <Menu
        trigger={
          <Button size="small" aria-label={`Events: ${filter.type || 'all'}`}>
            <ListFilter size={13} aria-hidden />
            {filter.type || 'events'}
          </Button>
        }
      >
        <MenuChoice
          label="Events"
          value={filter.type}
          choices={TYPE_CHOICES}
          onChoose={(type) => onFilter({ ...filter, type })}
        />
      </Menu>
      <Menu
        trigger={
          <Button size="small" aria-label={`Turns: ${filter.turn || 'all'}`}>
            {filter.turn === '' ? 'turns' : shortId(filter.turn)}
          </Button>
        }
      >
        <MenuChoice
          label="Turns of the log"
          value={filter.turn}
          choices={turnChoices}
          onChoose={(turn) => onFilter({ ...filter, turn })}
        />
      </Menu>
      {isOn && (
        <IconButton label="Show all events" size="small" onClick={() => onFilter(NO_FILTER)}>
          <X size={15} />
        </IconButton>
      )}
      <span role="status" className="shrink-0 pr-1 text-xs text-muted-foreground tabular-nums">
        {isOn ? `${shownCount} of ${entries.length}` : `${entries.length}`}
        <span className="sr-only"> entries</span>
      </span>
    </div>
  );
}

function Deep({ text }: { text: string }): ReactNode {
  return <span className="pl-3 font-mono text-note">{text}</span>;
}

/** The newest turns that the log tells of, newest first. */
function turnsOf(entries: readonly Entry[]): readonly string[] {
  const turns = new Set<string>();
  for (let index = entries.length - 1; index >= 0 && turns.size < MAX_TURNS; index--) {
    const entry = entries[index];
    const requestId = entry?.kind === 'event' ? requestIdOf(entry.event) : null;
    if (requestId !== null) turns.add(requestId);
  }
  return [...turns];
}
