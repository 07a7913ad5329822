import type { ArgsInput, ChatCommands } from '../protocol/index.js';
import { orIfAbsent } from './absent.js';

/**
 * Sees to it that the chat is there. One that is there stays as it is, whoever it belongs to: only a new one takes the
 * title and the assistant that are given.
 *
 * @throws {ChatError} `conflict` where it was deleted, or is one that the caller may not see
 */
export async function openChat(
  chats: ChatCommands,
  chat: ArgsInput<'chat:create'> & { readonly chatId: string },
): Promise<void> {
  const found = await orIfAbsent(chats.call('chat:get', { chatId: chat.chatId }), null);
  if (!found) await chats.call('chat:create', chat);
}
