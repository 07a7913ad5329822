import { useMemo, useSyncExternalStore } from 'react';
import type { ChatClient, ConnectionState } from '../index.js';
import { boundActions } from './bound-actions.js';
import { connectionView, type ConnectionView } from './connection-view.js';
import { NO_CONNECTION } from './nothing.js';
import { useClient } from './provider.js';

const idle = (): ConnectionState => NO_CONNECTION;
const no = (): boolean => false;
const actionsOf = boundActions<ChatClient, 'connect' | 'close'>(['connect', 'close']);

/**
 * The connection: its state, when the next attempt begins, and whether what is shown is up to date.
 *
 * @throws {Error} outside of a TurnstreamProvider
 */
export function useConnection(): ConnectionView & Pick<ChatClient, 'connect' | 'close'> {
  const client = useClient();
  const { connection, isUpToDate } = client;
  const state = useSyncExternalStore(connection.subscribe, connection.getSnapshot, idle);
  const upToDate = useSyncExternalStore(isUpToDate.subscribe, isUpToDate.getSnapshot, no);
  return useMemo(() => ({ ...connectionView(state, upToDate), ...actionsOf(client) }), [client, state, upToDate]);
}
