import type { ChatCommands } from '../../protocol/index.js';
import { chatOf, draftOf, type Chat, type NewChat } from './chat.js';
import { listChats, type ChatFilter, type ChatList, type ListTime } from './chat-list.js';
import { invalid, mustBeGiven, told, YaoStoreError } from './error.js';
import { changesIn, notFoundOf } from './given.js';

/** The seed's management of chats. Every method is refused with a {@link YaoStoreError}, and then nothing has changed. */
export interface ChatOperations {
  /**
   * Creates a chat of the caller's. An id is given to a chat once, for ever.
   *
   * @returns the chat; its id is written into what was given, where that had none
   * @throws {YaoStoreError} `bad_request`; `conflict` for an id that was ever used
   */
  createChat(chat: NewChat): Promise<Chat>;
  /** @throws {YaoStoreError} `bad_request`, `not_found` */
  getChat(chatId: string): Promise<Chat>;
  /**
   * Changes title, status, mode, public, share, sort or metadata. Ids and times are passed over.
   *
   * @throws {YaoStoreError} `bad_request` for no fields, or one that does not change; `not_found`, `forbidden`
   */
  updateChat(chatId: string, updates: Readonly<Record<string, unknown>>): Promise<void>;
  /** Hides the chat with its messages and steps, for good. @throws {YaoStoreError} `bad_request`, `not_found`, `forbidden` */
  deleteChat(chatId: string): Promise<void>;
  /** Of the chats that the caller may read. @throws {YaoStoreError} `bad_request` */
  listChats(filter?: ChatFilter | null): Promise<ChatList>;
}

const OPEN = ['title', 'status', 'mode', 'public', 'share', 'sort', 'metadata'];
const PASSED_OVER = ['chatId', 'createdAt', 'updatedAt', 'lastMessageAt'];

export const chatOperations = (chats: ChatCommands, time: ListTime): ChatOperations => ({
  async createChat(draft) {
    const asked: NewChat | null | undefined = draft;
    if (!asked) throw invalid('chat is required');
    const { assistantId } = asked;
    mustBeGiven(assistantId, 'assistant_id');
    const named = draftOf(asked);
    const exists = `chat ${named.chatId ?? ''} already exists`;
    const { chat, created } = await told(chats.call('chat:create', { ...named, assistantId }), { conflict: exists });
    if (!created && named.chatId !== undefined) throw new YaoStoreError('conflict', exists);
    // Not by assignment, which throws for an object that is frozen: the chat is there by now.
    if (named.chatId === undefined) Reflect.set(asked, 'chatId', chat.chatId);
    return chatOf(chat);
  },

  async getChat(chatId) {
    const not_found = sentence(chatId);
    return chatOf((await told(chats.call('chat:get', { chatId }), { not_found })).chat);
  },

  async updateChat(chatId, updates) {
    const not_found = sentence(chatId);
    const changes = changesIn(updates, OPEN, PASSED_OVER);
    // Their values are for the schema to judge.
    await told(chats.call('chat:update', { ...changes, chatId }), { not_found });
  },

  async deleteChat(chatId) {
    const not_found = sentence(chatId);
    await told(chats.call('chat:delete', { chatId }), { not_found });
  },

  listChats: (filter) => listChats(chats, filter ?? {}, time),
});

/** What is said where it is not there. @throws {YaoStoreError} `bad_request` without an id, `not_found` for a text that is no id */
function sentence(chatId: string): string {
  mustBeGiven(chatId, 'chat_id');
  return notFoundOf('chat', chatId);
}
