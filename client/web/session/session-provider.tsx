import { createContext, useContext, useSyncExternalStore, type ReactNode } from 'react';
import type { Hello } from '../../index.js';
import { TurnstreamProvider } from '../../react/index.js';
import type { Session, Who } from './session.js';

const SessionContext = createContext<Session | null>(null);

/** Gives a session, and its client of the moment, to what is inside. All of that begins anew with another person. */
export function SessionProvider({ session, children }: { session: Session; children: ReactNode }): ReactNode {
  const { client } = useSyncExternalStore(session.state.subscribe, session.state.getSnapshot);
  return (
    <SessionContext.Provider value={session}>
      <TurnstreamProvider client={client} key={keyOf(client)}>
        {children}
      </TurnstreamProvider>
    </SessionContext.Provider>
  );
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('A SessionProvider is needed around this.');
  return session;
}

export function useWho(): Who {
  const { state } = useSession();
  return useSyncExternalStore(state.subscribe, state.getSnapshot).who;
}

/** What the server said of itself and of the caller; null before it has. */
export function useHello(): Hello | null {
  const { hello } = useSession();
  return useSyncExternalStore(hello.subscribe, hello.getSnapshot);
}

const keys = new WeakMap<object, string>();
let clients = 0;

function keyOf(client: object): string {
  const key = keys.get(client) ?? `client-${++clients}`;
  keys.set(client, key);
  return key;
}
