import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ChatSnapshot, PendingInput } from '../../index.js';
import { useChat, useChatSnapshot } from '../../react/index.js';
import { MessageContent } from '../message/message-content.js';
import { Button } from '../ui/button.js';
import { Dots } from '../ui/dots.js';
import { attempt } from '../ui/notices.js';
import { useAssistantName } from './assistant-name.js';
import { BUBBLE, COLUMN } from './column.js';

/** What stands below the last message: what is on its way, and that an answer is being waited for. */
export function Tail(): ReactNode {
  const { pending } = useChat();
  return (
    <div className="pb-8">
      {pending.map((input) => (
        <Pending key={input.requestId} input={input} />
      ))}
      <Awaited />
    </div>
  );
}

function Pending({ input: { requestId, messages, error } }: { input: PendingInput }): ReactNode {
  const { retry, dismiss } = useChat();
  return (
    <div className={`${COLUMN} flex flex-col items-end gap-2 pt-6`}>
      {messages.map(({ type, props }, index) => (
        <div key={index} className={`${BUBBLE} ${error ? '' : 'opacity-70'}`}>
          <MessageContent message={asMessage(requestId, index, type, props)} />
        </div>
      ))}
      {error ? (
        <div role="alert" className="flex max-w-full flex-wrap items-center justify-end gap-2 text-sm text-destructive">
          <CircleAlert size={15} className="shrink-0" aria-hidden />
          <span className="min-w-0 break-words">Not sent: {error.message}</span>
          <Button size="small" className="text-foreground" onClick={() => attempt('Sending', retry(requestId))}>
            Send again
          </Button>
          <Button size="small" className="text-foreground" onClick={() => dismiss(requestId)}>
            Discard
          </Button>
        </div>
      ) : (
        messages.length > 0 && <span className="text-note text-muted-foreground">Sending…</span>
      )}
    </div>
  );
}

/** What a message will be once the server has made one of it, as far as it is shown. */
function asMessage(
  requestId: string,
  index: number,
  type: string,
  props: ChatSnapshot['messages'][number]['props'],
): ChatSnapshot['messages'][number] {
  const none = { blockId: null, threadId: null, stepId: null, assistantId: null, metadata: null };
  const places = { chatId: '', requestId, messageId: `${requestId}-${index}`, sequence: index + 1 };
  return { ...none, ...places, role: 'user', type, props, state: 'closed', createdAt: '', updatedAt: '' };
}

/** Whether a turn is under way of which nothing is being written at the moment. */
function isSilent({ running, turns, messages }: ChatSnapshot): boolean {
  const turn = running ?? [...turns.values()].find(({ status, background }) => status === 'queued' && !background);
  if (!turn) return false;
  const last = messages.findLast(({ requestId, role }) => requestId === turn.requestId && role === 'assistant');
  return last?.state !== 'open';
}

function Awaited(): ReactNode {
  const isAwaited = useChatSnapshot(isSilent);
  const name = useAssistantName();
  if (!isAwaited) return null;
  return (
    <p className={`${COLUMN} flex items-center gap-3 pt-6 text-sm text-muted-foreground`}>
      <Dots />
      <span>{name} is at work</span>
    </p>
  );
}
