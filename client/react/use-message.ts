import { useMemo, useSyncExternalStore } from 'react';
import type { Message } from '../index.js';
import { NO_IDS } from './nothing.js';
import { useNamedChat } from './provider.js';

const nothing = (): null => null;
const noIds = (): readonly string[] => NO_IDS;

/**
 * One message of a chat, rendered when it changes and for nothing else; null while it is not held.
 *
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useMessage(messageId: string, chatId?: string): Message | null {
  const chat = useNamedChat(chatId);
  const store = useMemo(() => chat.message(messageId), [chat, messageId]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, nothing);
}

/**
 * The ids of a chat's messages, in order: for a list that renders when a message comes or goes, and for nothing else.
 *
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useMessageIds(chatId?: string): readonly string[] {
  const { messageIds } = useNamedChat(chatId);
  return useSyncExternalStore(messageIds.subscribe, messageIds.getSnapshot, noIds);
}
