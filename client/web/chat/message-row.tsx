import { memo, useCallback, type ReactNode } from 'react';
import type { ChatSnapshot, Message } from '../../index.js';
import { useChatSnapshot, useMessage } from '../../react/index.js';
import { MessageContent } from '../message/message-content.js';
import { useHello } from '../session/session-provider.js';
import { Avatar } from '../ui/avatar.js';
import { classes } from '../ui/classes.js';
import { BUBBLE, COLUMN } from './column.js';
import type { Row } from './rows.js';
import { TurnEnd } from './turn-end.js';

/** One message, rendered for its own changes alone. */
export const MessageRow = memo(function MessageRow({ row }: { row: Row }): ReactNode {
  const message = useMessage(row.messageId);
  // A row of no height would be counted as not measured.
  if (!message) return <div className="h-px" />;
  return (
    // A margin that stuck out of a row would not be counted as its height.
    <div className={classes(COLUMN, 'flow-root', row.isFirst ? 'pt-6' : 'pt-2')} data-message={message.messageId}>
      <article aria-label={message.role === 'user' ? 'A person' : 'The assistant'}>
        {message.role === 'user' ? (
          <Said message={message} isFirst={row.isFirst} />
        ) : (
          <MessageContent message={message} />
        )}
      </article>
      {row.endsTurn && row.requestId !== null && <TurnEnd requestId={row.requestId} />}
    </div>
  );
});

function Said({ message, isFirst }: { message: Message; isFirst: boolean }): ReactNode {
  const author = useAuthor(message.requestId);
  const me = useHello()?.user.userId;
  const isOther = author !== null && me !== undefined && author !== me;
  return (
    <div className="flex flex-col items-end">
      {isOther && isFirst && (
        <span className="mb-1 flex max-w-full items-center gap-1.5 text-note text-muted-foreground">
          <Avatar name={author} className="size-5" />
          <span className="truncate">{author}</span>
        </span>
      )}
      <div className={BUBBLE}>
        <MessageContent message={message} />
      </div>
    </div>
  );
}

/** Who asked; null where that is not held. */
function useAuthor(requestId: string | null): string | null {
  const select = useCallback(
    ({ turns }: ChatSnapshot) => (requestId === null ? null : (turns.get(requestId)?.createdBy ?? null)),
    [requestId],
  );
  return useChatSnapshot(select);
}
