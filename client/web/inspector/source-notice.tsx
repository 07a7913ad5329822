import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import type { SourceState } from './log/log-source.js';

interface SourceNoticeProps {
  readonly state: SourceState;
  readonly isEmpty: boolean;
  readonly onAgain: () => void;
}

/** Why the log does not grow. */
export function SourceNotice({ state, isEmpty, onAgain }: SourceNoticeProps): ReactNode {
  const text = noticeOf(state, isEmpty);
  return (
    <div role="status" className="shrink-0">
      {text !== null && (
        <div className="flex items-center gap-3 border-b border-border bg-warning-soft px-3 py-1.5 text-note text-warning">
          <span className="min-w-0 flex-1">{text}</span>
          {state.status === 'ended' && state.reason !== 'deleted' && (
            <Button size="small" onClick={onAgain}>
              Try again
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function noticeOf(state: SourceState, isEmpty: boolean): string | null {
  switch (state.status) {
    case 'live':
    case 'reading':
      return null;
    case 'offline':
      return isEmpty ? 'No connection to the server.' : 'The connection is lost. The log goes on when it is back.';
    case 'ended':
      if (state.reason === 'deleted') return 'This chat was deleted. What is held of its log stays until you leave.';
      if (state.reason === 'revoked') return 'You may not read this chat any more.';
      return state.error?.code === 'not_found'
        ? 'There is no such chat that you may read.'
        : (state.error?.message ?? '');
  }
}
