import type { ReactNode } from 'react';
import type { Json } from '../../../../protocol/index.js';
import { CopyButton } from '../../ui/copy-button.js';
import { JsonText } from '../../ui/json-text.js';
import { LOOK_TEXT, lookOf } from '../log/colours.js';
import type { Entry } from '../log/entry.js';
import { startText } from '../log/event-text.js';

/** One event as it was sent. */
export function EventCard({ entry }: { entry: Entry }): ReactNode {
  if (entry.kind === 'start') {
    return <p className="shrink-0 border-b border-border px-3 py-2 text-note">{startText(entry)}</p>;
  }
  const { event } = entry;
  // The rest stands above it.
  const { chatId: _chatId, epoch: _epoch, offset: _offset, at: _at, type: _type, ...said } = event;
  return (
    <div className="shrink-0 border-b border-border px-3 pt-1.5 pb-2">
      <h2 className="mb-1 flex items-center gap-2 text-note">
        <span className="text-muted-foreground">#{event.offset}</span>
        <span className={`font-mono text-xs ${LOOK_TEXT[lookOf(event)]}`}>{event.type}</span>
        <time dateTime={event.at} className="ml-auto font-mono text-xs text-muted-foreground">
          {event.at.slice(11, 23)}
        </time>
        <CopyButton label="Copy the event" text={() => JSON.stringify(event, null, 2)} />
      </h2>
      <div className="[&>pre]:max-h-[24vh] [&>pre]:text-xs">
        <JsonText label="What the event says" value={said as unknown as Json} />
      </div>
    </div>
  );
}
