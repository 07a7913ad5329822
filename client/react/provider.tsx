import { createContext, useContext, useEffect, type ReactNode } from 'react';
import type { Chat, ChatClient } from '../index.js';

const ClientContext = createContext<ChatClient | null>(null);
const ChatContext = createContext<string | null>(null);

export interface TurnstreamProviderProps {
  /** Made once, outside of components, with `autoConnect: false` where the code runs on a server too. */
  readonly client: ChatClient;
  readonly children?: ReactNode;
}

/**
 * Gives a client to the hooks below. A client that is idle connects when this is mounted, so never on a server. It belongs
 * to whoever made it: to unmount ends the followings, and not the connection.
 */
export function TurnstreamProvider({ client, children }: TurnstreamProviderProps): ReactNode {
  useEffect(() => {
    if (client.connection.getSnapshot().status === 'idle') client.connect();
  }, [client]);
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>;
}

export interface ChatProviderProps {
  readonly chatId: string;
  readonly children?: ReactNode;
}

/** Says which chat the hooks below mean where none is named to them. */
export function ChatProvider({ chatId, children }: ChatProviderProps): ReactNode {
  return <ChatContext.Provider value={chatId}>{children}</ChatContext.Provider>;
}

/** The client of the TurnstreamProvider around. @throws {Error} outside of one */
export function useClient(): ChatClient {
  const client = useContext(ClientContext);
  if (!client) throw new Error('Hooks of turnstream/react need a <TurnstreamProvider client={…}> around them.');
  return client;
}

/** The chat named, else the one of the ChatProvider. @throws {Error} where there is neither; {ChatError} `bad_request`: not an id */
export function useNamedChat(chatId?: string): Chat {
  const client = useClient();
  const around = useContext(ChatContext);
  const id = chatId ?? around;
  if (id === null) throw new Error('Name a chatId, or render inside of a <ChatProvider chatId={…}>.');
  return client.chat(id);
}
