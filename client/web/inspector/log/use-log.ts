import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { DEFAULT_BACKOFF } from '../../../backoff.js';
import { systemClock } from '../../../clock.js';
import { systemIds } from '../../../id-source.js';
import { createSocketTransport } from '../../../socket-transport.js';
import { browserWake } from '../../../wake.js';
import type { Session } from '../../session/session.js';
import { useSession, useWho } from '../../session/session-provider.js';
import type { LogState } from './log-book.js';
import { LogSource, type SourceState } from './log-source.js';

const CONNECT_TIMEOUT_MS = 20_000;

/** The log of a chat, followed while the component is mounted. */
export function useLog(chatId: string): LogState & { readonly source: LogSource; readonly state: SourceState } {
  const session = useSession();
  const who = useWho();
  const source = useMemo(() => sourceOf(session, chatId), [session, chatId]);
  useEffect(() => {
    source.open();
    return () => source.close();
  }, [source]);
  // Another person's log is another component's; here it is another token of the same one.
  useEffect(() => {
    if (who.by === 'token') source.renew();
  }, [source, who]);
  const { book } = source;
  const held = useSyncExternalStore(book.state.subscribe, book.state.getSnapshot);
  const state = useSyncExternalStore(source.state.subscribe, source.state.getSnapshot);
  return { ...held, source, state };
}

function sourceOf(session: Session, chatId: string): LogSource {
  return new LogSource({
    chatId,
    connection: {
      ...session.credentials(),
      transport: createSocketTransport({ url: location.origin }),
      clock: systemClock,
      ids: systemIds,
      backoff: DEFAULT_BACKOFF,
      wake: browserWake,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    },
  });
}
