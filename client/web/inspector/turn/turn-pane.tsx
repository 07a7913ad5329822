import { ChevronsUpDown } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import type { ChatEvent, ChatView, Turn } from '../../../../protocol/index.js';
import { Button } from '../../ui/button.js';
import { Menu, MenuChoice } from '../../ui/menu.js';
import { turnColour } from '../log/colours.js';
import { requestIdOf, type Entry } from '../log/entry.js';
import { shortId } from '../log/event-text.js';
import type { Heard } from '../log/log-source.js';
import { Status } from '../status.js';
import { TurnDetail } from './turn-detail.js';
import { useTurns } from './use-turn-rows.js';

interface TurnPaneProps {
  readonly chatId: string;
  readonly entries: readonly Entry[];
  /** The view as it is now. */
  readonly tip: ChatView;
  /** The entry that is looked at. */
  readonly entry: Entry;
  readonly heard: Heard | null;
  /** The turn that was chosen here; null: that of the entry. */
  readonly chosen: string | null;
  readonly onChoose: (requestId: string | null) => void;
  /** Looks at another entry. */
  readonly onLook: (id: number) => void;
}

/** One turn: what it did, in which order, for how long. */
export function TurnPane({ chatId, entries, tip, entry, heard, chosen, onChoose, onLook }: TurnPaneProps): ReactNode {
  const [open, toggle] = useOpenRows();
  const events = useMemo(() => eventsOf(entries), [entries]);
  const reason = useMemo(() => String(events.findLast((event) => 'turn' in event)?.offset ?? ''), [events]);
  const listed = useTurns(chatId, reason);
  const turns = useMemo(() => merged(listed.value ?? [], tip.turns), [listed.value, tip.turns]);
  const ofEntry = entry.kind === 'event' ? turnOf(entry.event, tip) : null;
  const newest = turns[0]?.requestId ?? null;
  const turn = turns.find(({ requestId }) => requestId === (chosen ?? ofEntry ?? newest)) ?? turns[0];
  const lookAt = (event: ChatEvent): void => {
    const found = entries.findLast((one) => one.kind === 'event' && one.event === event);
    if (found) onLook(found.id);
  };
  const at = entry.kind === 'event' ? Date.parse(entry.event.at) : null;
  return (
    <section aria-label="Turn" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex shrink-0 items-center gap-2 border-b border-border p-2">
        <Menu
          align="start"
          trigger={
            <Button size="small" disabled={turns.length === 0} className="min-w-0">
              <span className="font-normal text-muted-foreground">{chosen === null ? 'Turn' : 'Pinned'}</span>
              {turn && <TurnName turn={turn} />}
              <ChevronsUpDown size={13} aria-hidden />
            </Button>
          }
        >
          <MenuChoice
            label="Turn"
            value={chosen ?? ''}
            choices={[
              { value: '', text: 'That of the event' },
              ...turns.map((one) => ({ value: one.requestId, text: <TurnLine turn={one} /> })),
            ]}
            onChoose={(requestId) => onChoose(requestId === '' ? null : requestId)}
          />
        </Menu>
        {turn && (
          <span className="ml-auto pr-1">
            <Status status={turn.status} />
          </span>
        )}
      </div>
      {turn ? (
        <TurnDetail
          key={turn.requestId}
          turn={turn}
          tip={tip}
          events={events}
          at={at}
          heard={heard}
          open={open}
          onToggle={toggle}
          onLook={lookAt}
        />
      ) : (
        <p role="status" className="px-4 py-6 text-center text-sm text-muted-foreground">
          {listed.status === 'refused' ? listed.error.message : 'This chat has had no turn yet.'}
        </p>
      )}
    </section>
  );
}

function TurnName({ turn }: { turn: Turn }): ReactNode {
  return (
    <span className={`rounded px-1 font-mono text-xs ${turnColour(turn.requestId)}`}>{shortId(turn.requestId)}</span>
  );
}

function TurnLine({ turn }: { turn: Turn }): ReactNode {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <TurnName turn={turn} />
      <span className="text-muted-foreground">{turn.createdAt.slice(11, 19)}</span>
      <span className="max-w-32 truncate">{turn.assistantId}</span>
      <Status status={turn.status} />
    </span>
  );
}

/** What is unfolded, in all turns: whoever looks at another event, and comes back, finds it so. */
function useOpenRows(): readonly [open: ReadonlySet<string>, toggle: (id: string) => void] {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string): void =>
    setOpen((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set(before).add(id)));
  return [open, toggle];
}

const eventsOf = (entries: readonly Entry[]): readonly ChatEvent[] =>
  entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []));

/** An event about a message names no turn of its own: the message does. */
function turnOf(event: ChatEvent, tip: ChatView): string | null {
  const known = requestIdOf(event);
  if (known !== null || !('messageId' in event)) return known;
  return tip.messages.find(({ messageId }) => messageId === event.messageId)?.requestId ?? null;
}

/** Newest first; what events tell of a turn is newer than what was read. */
function merged(listed: readonly Turn[], told: ChatView['turns']): readonly Turn[] {
  const turns = new Map(listed.map((turn) => [turn.requestId, turn]));
  for (const [requestId, turn] of told) turns.set(requestId, turn);
  return [...turns.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}
