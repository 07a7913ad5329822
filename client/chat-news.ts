import type { Chat as ChatRow, Result } from '../protocol/index.js';
import type { ChatSnapshot } from './chat-snapshot.js';

/**
 * What a client comes to know of chats by the way: from those that it follows, and from the answers to what it asked for.
 * The contract has no subscription to a list.
 */
export type ChatNews =
  /** A chat as it is now. */
  | { readonly type: 'row'; readonly chat: ChatRow }
  /** It is there no more, or may not be read. */
  | { readonly type: 'gone'; readonly chatId: string }
  /** There may be one of which no more is known. */
  | { readonly type: 'unsure' };

/** What a change of a followed chat tells. */
export function newsOfChat(chatId: string, after: ChatSnapshot, before: ChatSnapshot): ChatNews | null {
  if (after.status === 'ended') return before.status === 'ended' ? null : { type: 'gone', chatId };
  return after.chat && after.chat !== before.chat ? { type: 'row', chat: after.chat } : null;
}

/** What the answer to a command tells. */
export function newsOfAnswer(name: string, args: object, data: unknown): ChatNews | null {
  switch (name) {
    case 'chat:create':
    case 'chat:update':
    case 'chat:get':
      return { type: 'row', chat: (data as Result<'chat:get'>).chat };
    case 'chat:delete':
      return { type: 'gone', chatId: (data as Result<'chat:delete'>).chatId };
    case 'turn:start':
      return 'createChat' in args && args.createChat === true ? { type: 'unsure' } : null;
    default:
      return null;
  }
}
