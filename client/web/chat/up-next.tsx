import { Clock3, X } from 'lucide-react';
import { useCallback, type ReactNode } from 'react';
import type { ChatSnapshot } from '../../index.js';
import { useChat, useChatSnapshot } from '../../react/index.js';
import { IconButton } from '../ui/button.js';
import { attempt } from '../ui/notices.js';
import { COLUMN } from './column.js';
import { useWaiting } from './rows.js';
import { useMayTalk } from './use-may-talk.js';

/** The turns that wait for the present answer, in their order. Each can be withdrawn. */
export function UpNext(): ReactNode {
  const waiting = useWaiting();
  if (waiting.length === 0) return null;
  return (
    <section aria-label="Up next" className={COLUMN}>
      <ol className="mb-2 max-h-36 overflow-y-auto rounded-2xl border border-border bg-muted/60 px-1.5 py-1">
        {waiting.map((requestId) => (
          <Waiting key={requestId} requestId={requestId} />
        ))}
      </ol>
    </section>
  );
}

function Waiting({ requestId }: { requestId: string }): ReactNode {
  const { stop } = useChat();
  const mayTalk = useMayTalk();
  const select = useCallback((snapshot: ChatSnapshot) => inputText(snapshot, requestId), [requestId]);
  const text = useChatSnapshot(select);
  return (
    <li className="flex items-center gap-2 py-0.5 pl-2 text-sm">
      <Clock3 size={14} className="shrink-0 text-muted-foreground" aria-hidden />
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {mayTalk && (
        <IconButton label="Withdraw" size="small" onClick={() => attempt('Withdrawing', stop(requestId))}>
          <X size={15} />
        </IconButton>
      )}
    </li>
  );
}

function inputText({ messages }: ChatSnapshot, requestId: string): string {
  const input = messages.filter((message) => message.requestId === requestId && message.role === 'user');
  const words = input.map(({ type, props: { content } }) => (typeof content === 'string' ? content : type));
  return words.join(' ') || 'An earlier question, once more';
}
