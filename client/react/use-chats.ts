import { useMemo, useSyncExternalStore } from 'react';
import type { ArgsInput } from '../../protocol/index.js';
import { EMPTY_LIST } from '../chat-list.js';
import { queryKey } from '../chat-query.js';
import type { ChatClient, ChatList, ChatListSnapshot, ChatQuery, ChatRow } from '../index.js';
import { boundActions } from './bound-actions.js';
import { useClient } from './provider.js';

export interface ChatListActions {
  /** Reads the next page. */
  readonly loadMore: () => Promise<void>;
  /** Reads again what is held. */
  readonly refresh: () => Promise<void>;
  /** @throws {ChatError} the refusal */
  readonly create: (chat: ArgsInput<'chat:create'>) => Promise<ChatRow>;
  /** @throws {ChatError} `forbidden`: only its creator or an admin changes a chat */
  readonly rename: (chatId: string, title: string | null) => Promise<ChatRow>;
  readonly archive: (chatId: string) => Promise<ChatRow>;
  readonly unarchive: (chatId: string) => Promise<ChatRow>;
  /** Deletes a chat with all that it holds, for good. */
  readonly deleteChat: (chatId: string) => Promise<void>;
}

export interface ChatsOptions extends ChatQuery {
  /** Rows of a page, 1…100. Default 20. */
  readonly pageSize?: number;
}

const empty = (): ChatListSnapshot => EMPTY_LIST;
const listActions = boundActions<ChatList, 'loadMore' | 'refresh'>(['loadMore', 'refresh']);

/**
 * A list of chats: by default one's own, newest activity first. It keeps up with the chats that this client follows and with
 * what it does itself, and is read again when the connection or the page is back: of other chats the server does not tell.
 *
 * @throws {Error} outside of a TurnstreamProvider
 */
export function useChats({ pageSize = 20, ...query }: ChatsOptions = {}): ChatListSnapshot & ChatListActions {
  const client = useClient();
  const key = queryKey(query);
  // The key says what the query says.
  const list = useMemo(() => client.chats(query, pageSize), [client, key, pageSize]);
  const { view } = list;
  const state = useSyncExternalStore(view.subscribe, view.getSnapshot, empty);
  return useMemo(() => ({ ...state, ...listActions(list), ...chatActions(client) }), [client, list, state]);
}

type ChatActions = Pick<ChatListActions, 'create' | 'rename' | 'archive' | 'unarchive' | 'deleteChat'>;
const known = new WeakMap<ChatClient, ChatActions>();

/** The same functions for the same client. */
function chatActions(client: ChatClient): ChatActions {
  const held = known.get(client);
  if (held) return held;
  const update = async (chatId: string, patch: { title?: string | null; status?: 'active' | 'archived' }) =>
    (await client.call('chat:update', { chatId, ...patch })).chat;
  const made: ChatActions = {
    create: async (chat) => (await client.call('chat:create', chat)).chat,
    rename: (chatId, title) => update(chatId, { title }),
    archive: (chatId) => update(chatId, { status: 'archived' }),
    unarchive: (chatId) => update(chatId, { status: 'active' }),
    deleteChat: async (chatId) => void (await client.call('chat:delete', { chatId })),
  };
  known.set(client, made);
  return made;
}
