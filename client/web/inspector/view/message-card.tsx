import { memo, type ReactNode } from 'react';
import type { ChatEvent, Json, Message } from '../../../../protocol/index.js';
import { classes } from '../../ui/classes.js';
import { shortId } from '../log/event-text.js';
import { Status } from '../status.js';

const MAX_SHOWN = 4_000;

interface MessageCardProps {
  readonly message: Message;
  /** The event that made it what it is; null where it had been so before. */
  readonly event: ChatEvent | null;
}

/** A message in the words of the protocol. Nothing in it is rendered: what it holds is what one wants to see. */
export const MessageCard = memo(function MessageCard({ message, event }: MessageCardProps): ReactNode {
  const { sequence, role, type, state, assistantId, props, messageId } = message;
  const { content, ...others } = props;
  const isText = typeof content === 'string';
  const rest = isText ? others : props;
  return (
    <div role="listitem" className={classes('border-b border-border px-3 py-2', event && 'bg-primary/10')}>
      <p className="flex items-baseline gap-2 text-xs text-muted-foreground" title={messageId}>
        <span className="tabular-nums">{sequence}</span>
        <span className="font-medium text-foreground">{role === 'user' ? 'user' : (assistantId ?? 'assistant')}</span>
        <span className="min-w-0 truncate">{type}</span>
        <span className="ml-auto font-mono">{shortId(messageId)}</span>
        {state === 'open' && <Status status="open" />}
      </p>
      {isText && <Text text={content} event={event} />}
      {Object.keys(rest).length > 0 && <Plain value={rest} />}
    </div>
  );
});

function Text({ text, event }: { text: string; event: ChatEvent | null }): ReactNode {
  const from = event?.type === 'message.appended' && event.path === 'content' ? event.from : text.length;
  // Of a long text the end: there it grows.
  const start = Math.max(0, text.length - MAX_SHOWN);
  return (
    <p className="mt-0.5 text-note leading-relaxed break-words whitespace-pre-wrap">
      {start > 0 && <span className="text-muted-foreground">{start} characters before … </span>}
      {text.slice(start, Math.max(start, from))}
      {from < text.length && (
        <mark className="rounded-xs bg-primary/30 text-inherit">{text.slice(Math.max(start, from))}</mark>
      )}
    </p>
  );
}

function Plain({ value }: { value: Json }): ReactNode {
  const text = JSON.stringify(value, null, 2);
  return (
    <p className="mt-1 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap text-muted-foreground">
      {text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text}
    </p>
  );
}
