import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Step, Turn } from '../../../../protocol/index.js';
import type { ReadState } from '../../../index.js';
import { Reader } from '../../../reader.js';
import { useClient } from '../../../react/index.js';

const TURNS = 100;

/** The newest turns of a chat, newest first. @param reason asked again whenever it is another one */
export function useTurns(chatId: string, reason: string): ReadState<readonly Turn[]> {
  const client = useClient();
  const reader = useMemo(
    () => new Reader<readonly Turn[]>(async () => (await client.call('turn:list', { chatId, limit: TURNS })).turns),
    [client, chatId],
  );
  return useReader(reader, reason);
}

/** The steps of a turn as they are recorded, with what went in and came out; asked again as {@link useTurns}. */
export function useRecordedSteps(requestId: string, reason: string): ReadState<readonly Step[]> {
  const client = useClient();
  const reader = useMemo(
    () => new Reader<readonly Step[]>(async () => (await client.call('step:list', { requestId })).steps),
    [client, requestId],
  );
  return useReader(reader, reason);
}

function useReader<T>(reader: Reader<T>, reason: string): ReadState<T> {
  useEffect(() => reader.ask(), [reader, reason]);
  return useSyncExternalStore(reader.state.subscribe, reader.state.getSnapshot);
}
