import { useEffect, useMemo, useRef } from 'react';
import type { ChatSnapshot, ConnectionState, PresentUser } from '../index.js';
import { NO_CHAT, NO_CONNECTION } from './nothing.js';
import { useClient, useNamedChat } from './provider.js';
import { useSelected } from './use-selected.js';

export interface PresenceState {
  /** Everybody who follows the chat or types in it, the caller included; nobody while that is not known. */
  readonly users: readonly PresentUser[];
  /** The same without the caller. */
  readonly others: readonly PresentUser[];
  /** Those of the others who are typing. */
  readonly typing: readonly PresentUser[];
  /** Shows the others whether the caller is typing. It ends with the component. */
  readonly setTyping: (typing: boolean) => void;
}

const presenceOf = ({ presence }: ChatSnapshot): readonly PresentUser[] => presence;
const userIdOf = (state: ConnectionState): string | null =>
  state.status === 'open' ? (state.hello?.user.userId ?? null) : null;

/**
 * Who is here, and who is typing (SUB-8). Of the moment: without a connection nobody is.
 *
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function usePresence(chatId?: string): PresenceState {
  const chat = useNamedChat(chatId);
  const users = useSelected(chat.view, NO_CHAT, presenceOf);
  const me = useSelected(useClient().connection, NO_CONNECTION, userIdOf);
  const hasTyped = useRef(false);
  useEffect(
    () => () => {
      if (hasTyped.current) chat.setTyping(false);
      hasTyped.current = false;
    },
    [chat],
  );
  return useMemo(() => {
    const others = users.filter(({ userId }) => userId !== me);
    const setTyping = (typing: boolean): void => {
      hasTyped.current = typing;
      chat.setTyping(typing);
    };
    return { users, others, typing: others.filter(({ typing }) => typing), setTyping };
  }, [chat, users, me]);
}
