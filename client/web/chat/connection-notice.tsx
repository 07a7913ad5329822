import { CloudOff, LoaderCircle } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useConnection } from '../../react/index.js';
import { useSession } from '../session/session-provider.js';
import { Button, Hint } from '../ui/button.js';
import { useAfter, useNow } from '../ui/use-after.js';

/** A short gap is nobody's business: what is sent meanwhile waits. */
const QUIET_MS = 600;
const UP_TO_DATE_MS = 2_500;

type Phase = 'first' | 'slow' | 'well' | 'gap' | 'lost' | 'back';

interface Next {
  /** Where the connection is well, where it is not, and where it has stayed in this phase for so long. */
  readonly well: Phase;
  readonly unwell: Phase;
  readonly later?: { readonly ms: number; readonly phase: Phase };
}

/** What is said of a connection over its life. That it is well again is news only to who has seen it lost. */
const PHASES: Readonly<Record<Phase, Next>> = {
  first: { well: 'well', unwell: 'first', later: { ms: QUIET_MS, phase: 'slow' } },
  slow: { well: 'well', unwell: 'slow' },
  well: { well: 'well', unwell: 'gap' },
  gap: { well: 'well', unwell: 'gap', later: { ms: QUIET_MS, phase: 'lost' } },
  lost: { well: 'back', unwell: 'lost' },
  back: { well: 'back', unwell: 'gap', later: { ms: UP_TO_DATE_MS, phase: 'well' } },
};

/** The connection, where there is something to say of it; and for a moment that all is well again. */
export function ConnectionNotice(): ReactNode {
  const connection = useConnection();
  const isWell = connection.status === 'open' && connection.isUpToDate;
  const [phase, setPhase] = useState<Phase>('first');
  const { well, unwell, later } = PHASES[phase];
  const next = isWell ? well : unwell;
  if (next !== phase) setPhase(next);
  useAfter(later?.ms ?? null, () => later && setPhase(later.phase));
  return (
    <div role="status" aria-label="Connection" className="empty:hidden">
      {(phase === 'slow' || phase === 'lost') && <Lost />}
      {phase === 'back' && (
        <p className="animate-appear border-b border-border px-4 py-1.5 text-center text-note text-success">
          You are up to date
        </p>
      )}
    </div>
  );
}

function Lost(): ReactNode {
  const connection = useConnection();
  const session = useSession();
  const isClosed = connection.status === 'closed';
  return (
    <p className="flex animate-appear items-center justify-center gap-2.5 border-b border-border bg-warning-soft px-4 py-1.5 text-note text-warning">
      {isClosed ? (
        <CloudOff size={14} className="shrink-0" aria-hidden />
      ) : (
        <LoaderCircle size={14} className="shrink-0 animate-spin" aria-hidden />
      )}
      <span className="min-w-0 break-words">
        <Words connection={connection} />
      </span>
      {isClosed && (
        <Button size="small" className="text-foreground" onClick={connection.connect}>
          Connect
        </Button>
      )}
      {connection.status === 'reconnecting' && (
        <Button size="small" className="text-foreground" onClick={() => session.retryNow()}>
          Try now
        </Button>
      )}
    </p>
  );
}

function Words({ connection }: { connection: ReturnType<typeof useConnection> }): ReactNode {
  switch (connection.status) {
    case 'open':
      return 'Catching up…';
    case 'reconnecting':
      return (
        <>
          Reconnecting…
          {connection.retryAt !== null && <Countdown until={connection.retryAt} />}
        </>
      );
    case 'closed':
      return connection.error?.message ?? 'Not connected.';
    case 'idle':
    case 'connecting':
      return 'Connecting…';
  }
}

/** Not read out: a status that changes each second says nothing. */
function Countdown({ until }: { until: number }): ReactNode {
  const seconds = Math.ceil((until - useNow(1_000)) / 1_000);
  return seconds > 0 && <span aria-hidden> next try in {seconds} s</span>;
}

/** The same in one point, for the corner of the eye. */
export function ConnectionPoint(): ReactNode {
  const connection = useConnection();
  const isWell = connection.status === 'open' && connection.isUpToDate;
  const text = isWell ? 'You are up to date' : connection.status === 'closed' ? 'Not connected' : 'Reconnecting';
  return (
    <Hint text={text}>
      <span role="img" aria-label={text} className="inline-flex size-6 items-center justify-center">
        <span className={`size-2 rounded-full ${isWell ? 'bg-emerald-500' : 'animate-breathe bg-amber-500'}`} />
      </span>
    </Hint>
  );
}
