import { CirclePause, CircleX, Play, RotateCcw } from 'lucide-react';
import { useCallback, type ReactNode } from 'react';
import { isEnded, type StopReason } from '../../../protocol/index.js';
import type { ChatSnapshot, Turn } from '../../index.js';
import { useChat, useChatSnapshot, useClient } from '../../react/index.js';
import { Button, IconButton } from '../ui/button.js';
import { CopyButton } from '../ui/copy-button.js';
import { attempt } from '../ui/notices.js';
import { isIdle } from './rows.js';
import { answerText } from './answer-text.js';
import { useMayTalk } from './use-may-talk.js';

const WHY: Readonly<Record<StopReason, string>> = {
  stopped: 'Stopped.',
  superseded: 'Another question came before it was done.',
  deleted: 'The chat was deleted.',
  agent_lost: 'The assistant went away in the middle of it.',
  shutdown: 'The server was shut down in the middle of it.',
  crashed: 'The server ended in the middle of it. All that was said until then is here.',
  timeout: 'It took too long.',
  error: 'It failed.',
  agent_unavailable: 'Nobody serves this assistant at present.',
};

interface End {
  readonly turn: Turn | null;
  /** Whether it is the newest, and nothing is under way: then it can be answered anew. */
  readonly isNewest: boolean;
}

const sameEnd = (a: End, b: End): boolean => a.turn === b.turn && a.isNewest === b.isNewest;

/** What became of a turn, and what can be done about it. */
export function TurnEnd({ requestId }: { requestId: string }): ReactNode {
  const select = useCallback((snapshot: ChatSnapshot) => endOf(snapshot, requestId), [requestId]);
  const { turn, isNewest } = useChatSnapshot(select, { isSame: sameEnd });
  if (!turn || !isEnded(turn.status)) return null;
  if (turn.status !== 'completed') return <Incomplete turn={turn} isNewest={isNewest} />;
  return <Complete requestId={requestId} isNewest={isNewest} />;
}

function endOf(snapshot: ChatSnapshot, requestId: string): End {
  const turn = snapshot.turns.get(requestId) ?? null;
  const isNewest = snapshot.messages.at(-1)?.requestId === requestId && isIdle(snapshot);
  return { turn, isNewest };
}

function Complete({ requestId, isNewest }: { requestId: string; isNewest: boolean }): ReactNode {
  const { regenerate } = useChat();
  const mayTalk = useMayTalk();
  const view = useView();
  return (
    <div className="-ml-1.5 flex items-center gap-0.5 pt-1">
      <CopyButton label="Copy answer" text={() => answerText(view(), requestId)} />
      {isNewest && mayTalk && (
        <IconButton label="Answer again" size="small" onClick={() => attempt('Answering again', regenerate(requestId))}>
          <RotateCcw size={15} />
        </IconButton>
      )}
    </div>
  );
}

function Incomplete({ turn, isNewest }: { turn: Turn; isNewest: boolean }): ReactNode {
  const { regenerate, resume } = useChat();
  const mayTalk = useMayTalk();
  const { requestId, stopReason, error, startedAt } = turn;
  const isFailed = turn.status === 'failed';
  const isWithdrawn = stopReason === 'stopped' && startedAt === null;
  const look = isFailed ? 'bg-destructive-soft text-destructive' : 'bg-muted text-muted-foreground';
  return (
    <div role="group" aria-label="Unfinished answer" className={`mt-3 rounded-xl px-3.5 py-2.5 text-sm ${look}`}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span aria-hidden>{isFailed ? <CircleX size={16} /> : <CirclePause size={16} />}</span>
        <span className="min-w-0 flex-1 basis-48 break-words">
          {isWithdrawn ? 'Withdrawn before it was answered.' : (error?.message ?? WHY[stopReason ?? 'error'])}
        </span>
        {mayTalk && (
          <span className="flex flex-wrap gap-2">
            <Button size="small" className="text-foreground" onClick={() => attempt('Going on', resume({ requestId }))}>
              <Play size={13} aria-hidden /> {isWithdrawn ? 'Ask after all' : 'Go on'}
            </Button>
            {isNewest && !isWithdrawn && (
              <Button
                size="small"
                className="text-foreground"
                onClick={() => attempt('Answering again', regenerate(requestId))}
              >
                <RotateCcw size={13} aria-hidden /> Answer again
              </Button>
            )}
          </span>
        )}
      </div>
    </div>
  );
}

/** Reads the chat around this at the moment of asking, without following its words. */
function useView(): () => ChatSnapshot {
  const client = useClient();
  const chatId = useChatSnapshot(({ chat }) => chat?.chatId ?? null);
  return () => client.chat(chatId ?? '').view.getSnapshot();
}
