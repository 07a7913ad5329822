import { commands, type ChatCommands, type Message as MessageRow } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { deleteMessages } from '../deletion.js';
import { allMessages, messagesBehind, newestMessages, type MessageRange } from '../pages.js';
import { invalid, mustBeGiven, told } from './error.js';
import { changesIn, countOr, given, isId, listOf, mustBeFilters, notFoundOf } from './given.js';
import { messageOf, savedMessageOf, type Message, type NewMessage } from './message.js';

/** Conditions joined by AND. Nothing, 0 and an empty text stand for none. */
export interface MessageFilter {
  readonly requestId?: string;
  readonly role?: string;
  readonly blockId?: string;
  readonly threadId?: string;
  readonly type?: string;
  /** Alone: the newest. With `offset`: so many from there. With `beforeId`: so many before it, by default 50. */
  readonly limit?: number;
  /** Skips so many from the oldest. */
  readonly offset?: number;
  /** Only messages whose `id` is below, the nearest; `offset` does not count then. */
  readonly beforeId?: number;
}

const FILTERS: readonly (keyof MessageFilter)[] = [
  ...(['requestId', 'role', 'blockId', 'threadId', 'type'] as const),
  ...(['limit', 'offset', 'beforeId'] as const),
];

/** The seed's management of messages. Every method is refused with a {@link YaoStoreError}, and then nothing has changed. */
export interface MessageOperations {
  /**
   * Adds messages behind those that the chat has, all or none, at most 1,000 at a time. No messages are a success.
   *
   * @returns the messages as they stand
   * @throws {YaoStoreError} `bad_request` for one without role, type or props; `not_found`, `forbidden`; `conflict` for an
   *   id that is another message's, or a request that is running; `payload_too_large`
   */
  saveMessages(chatId: string, messages: readonly (NewMessage | null)[]): Promise<Message[]>;
  /** Ascending; none of a chat that is not there. @throws {YaoStoreError} `bad_request` */
  getMessages(chatId: string, filter?: MessageFilter | null): Promise<Message[]>;
  /**
   * Changes type, props or metadata.
   *
   * @throws {YaoStoreError} `bad_request` for no fields, or one that does not change; `not_found`, `forbidden`; `conflict`
   *   while it is still written
   */
  updateMessage(messageId: string, updates: Readonly<Record<string, unknown>>): Promise<void>;
  /** Deletes those of the ids that the chat has, for good. @throws {YaoStoreError} `bad_request`, `forbidden` */
  deleteMessages(chatId: string, messageIds: readonly string[]): Promise<void>;
}

const OPEN = ['type', 'props', 'metadata'];
const PASSED_OVER = ['messageId', 'chatId', 'createdAt', 'updatedAt'];
const BEFORE_LIMIT = 50;

export const messageOperations = (chats: ChatCommands): MessageOperations => ({
  async saveMessages(chatId, messages) {
    mustBeGiven(chatId, 'chat_id');
    const drafts = listOf(messages, 'messages').map(savedMessageOf);
    if (drafts.length === 0) return [];
    const not_found = notFoundOf('chat', chatId);
    const saved = await told(chats.call('message:save', { chatId, messages: drafts }), { not_found });
    return saved.messages.map(messageOf);
  },

  async getMessages(chatId, filter) {
    mustBeGiven(chatId, 'chat_id');
    const rows = await told(orIfAbsent(rowsOf(chats, chatId, filter ?? {}), []));
    return rows.map(messageOf);
  },

  async updateMessage(messageId, updates) {
    mustBeGiven(messageId, 'message_id');
    const changes = changesIn(updates, OPEN, PASSED_OVER);
    if (Object.keys(changes).length === 0) throw invalid('no fields to update');
    const not_found = notFoundOf('message', messageId);
    // Their values are for the schema to judge.
    await told(chats.call('message:update', { ...changes, messageId }), { not_found });
  },

  async deleteMessages(chatId, messageIds) {
    mustBeGiven(chatId, 'chat_id');
    const ids = listOf(messageIds, 'message_ids').filter(isId);
    if (!isId(chatId)) return;
    await told(orIfAbsent(deleteMessages(chats, chatId, ids), null));
  },
});

/** @throws {ChatError} `not_found` for a chat that is not there */
async function rowsOf(chats: ChatCommands, chatId: string, filter: MessageFilter): Promise<readonly MessageRow[]> {
  mustBeFilters(filter, FILTERS);
  const limit = countOr(filter.limit, 'limit', undefined);
  const offset = countOr(filter.offset, 'offset', 0);
  const beforeId = countOr(filter.beforeId, 'before_id', undefined);
  const { requestId, role, blockId, threadId, type } = filter;
  const range = { chatId, ...given({ requestId, role, blockId, threadId, type }) } as MessageRange;
  // A text that no id, role or type can be matches nothing, and is no mistake.
  if (!commands['message:list'].args.safeParse(range).success) return [];
  if (beforeId !== undefined) return newestMessages(chats, range, limit ?? BEFORE_LIMIT, beforeId);
  if (offset > 0) return messagesBehind(chats, range, offset, limit);
  return limit === undefined ? allMessages(chats, range) : newestMessages(chats, range, limit);
}
