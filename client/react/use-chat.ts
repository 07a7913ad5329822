import { useCallback, useMemo } from 'react';
import type { Chat, ChatSnapshot } from '../index.js';
import { boundActions } from './bound-actions.js';
import { chatStateOf, type ChatState } from './chat-state.js';
import { NO_CHAT, NO_IDS } from './nothing.js';
import { useNamedChat } from './provider.js';
import { isShallowSame, useSelected } from './use-selected.js';

/** What can be done in a chat: each the method of `Chat`, bound. */
export type ChatActions = Pick<
  Chat,
  | 'start'
  | 'regenerate'
  | 'retry'
  | 'dismiss'
  | 'stop'
  | 'resume'
  | 'update'
  | 'updateMessage'
  | 'deleteMessages'
  | 'loadOlder'
> & { readonly deleteChat: Chat['delete'] };

const actionsOf = boundActions<Chat, Exclude<keyof ChatActions, 'deleteChat'> | 'delete'>([
  'start',
  'regenerate',
  'retry',
  'dismiss',
  'stop',
  'resume',
  'update',
  'updateMessage',
  'deleteMessages',
  'loadOlder',
  'delete',
]);

/**
 * A chat, followed while the component is mounted. It renders when a message comes or goes, a turn begins or ends, and not
 * for the words in between: those are `useMessage`'s.
 *
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useChat(chatId?: string): ChatState & ChatActions {
  const chat = useNamedChat(chatId);
  const select = useCallback(
    (snapshot: ChatSnapshot) => chatStateOf(snapshot, snapshot === NO_CHAT ? NO_IDS : chat.messageIds.getSnapshot()),
    [chat],
  );
  const state = useSelected(chat.view, NO_CHAT, select, isShallowSame);
  return useMemo(() => {
    const { delete: deleteChat, ...actions } = actionsOf(chat);
    return { ...state, ...actions, deleteChat };
  }, [chat, state]);
}

/**
 * What `select` takes out of a chat's snapshot, rendered when that changes. For what has no hook of its own.
 *
 * @param isSame when two selections count as one. Default: `Object.is`
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useChatSnapshot<T>(
  select: (snapshot: ChatSnapshot) => T,
  { chatId, isSame }: { readonly chatId?: string; readonly isSame?: (a: T, b: T) => boolean } = {},
): T {
  return useSelected(useNamedChat(chatId).view, NO_CHAT, select, isSame);
}
