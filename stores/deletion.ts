import type { ChatCommands } from '../protocol/index.js';

/** Ids that one command takes. */
const AT_ONCE = 1000;

/** Deletes those of the ids that the chat has, in their order, however many. Doing it again does no harm. @throws {ChatError} */
export async function deleteMessages(
  chats: ChatCommands,
  chatId: string,
  messageIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < messageIds.length; from += AT_ONCE)
    await chats.call('message:delete', { chatId, messageIds: messageIds.slice(from, from + AT_ONCE) });
}
