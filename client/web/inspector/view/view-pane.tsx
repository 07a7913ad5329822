import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso';
import type { ChatView, Turn } from '../../../../protocol/index.js';
import { messageIdsOf, type Entry } from '../log/entry.js';
import { startText } from '../log/event-text.js';
import { Status } from '../status.js';
import { EventCard } from './event-card.js';
import { MessageCard } from './message-card.js';

interface ViewPaneProps {
  readonly entry: Entry;
  readonly view: ChatView;
  /** Messages that the view lacks, because they cannot be known. */
  readonly unknownCount: number;
}

/** What a follower sees after an event, and the event. */
export function ViewPane({ entry, view, unknownCount }: ViewPaneProps): ReactNode {
  const { messages } = view;
  const list = useRef<VirtuosoHandle>(null);
  const touched = useMemo(() => new Set(entry.kind === 'event' ? messageIdsOf(entry.event) : []), [entry]);
  const index = messages.findLastIndex(({ messageId }) => touched.has(messageId));
  const isLast = index >= 0 && index === messages.length - 1;
  useEffect(() => {
    if (index < 0) return;
    if (isLast) list.current?.scrollToIndex({ index, align: 'end' });
    else list.current?.scrollIntoView({ index, behavior: 'auto' });
  }, [index, entry, isLast]);
  const live = [...view.turns.values()].filter(({ status }) => status === 'running' || status === 'queued');
  return (
    <section aria-label="View" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <EventCard entry={entry} />
      <h2 className="flex shrink-0 items-center gap-2 border-b border-border px-3 py-1.5 text-note">
        <span className="font-medium">The view at #{view.position.offset}</span>
        <span className="text-muted-foreground">
          {messages.length} {messages.length === 1 ? 'message' : 'messages'}
          {view.hasMore && ', and older ones'}
        </span>
        <span className="flex min-w-0 flex-1 flex-wrap justify-end gap-1">
          {live.map((turn) => (
            <LiveTurn key={turn.requestId} turn={turn} />
          ))}
          {view.deleted && <Status status="deleted" />}
        </span>
      </h2>
      {unknownCount > 0 && (
        <p className="shrink-0 border-b border-border bg-warning-soft px-3 py-1.5 text-note text-warning">
          {unknownCount === 1 ? 'One message is' : `${unknownCount} messages are`} left out here: what the log tells
          does not say what they held at this moment.
        </p>
      )}
      {messages.length === 0 ? (
        <p className="px-4 py-6 text-center text-sm text-muted-foreground">
          {entry.kind === 'start' ? startText(entry) : 'No message is held here.'}
        </p>
      ) : (
        <Virtuoso
          ref={list}
          className="min-h-0 flex-1"
          role="list"
          aria-label="Messages of the view"
          tabIndex={0}
          data={messages}
          computeItemKey={(_, { messageId }) => messageId}
          initialTopMostItemIndex={{ index: 'LAST', align: 'end' }}
          increaseViewportBy={300}
          // What is being written grows out of sight else.
          totalListHeightChanged={() => {
            if (isLast) list.current?.scrollToIndex({ index, align: 'end' });
          }}
          itemContent={(_, message) => (
            <MessageCard message={message} event={touched.has(message.messageId) ? eventOf(entry) : null} />
          )}
        />
      )}
    </section>
  );
}

const eventOf = (entry: Entry) => (entry.kind === 'event' ? entry.event : null);

function LiveTurn({ turn }: { turn: Turn }): ReactNode {
  return (
    <span title={turn.requestId}>
      <Status status={turn.status} />
    </span>
  );
}
