import type { Args, Result } from '../../../protocol/index.js';
import { chatIdTaken, isInTenant } from '../access.js';
import type { Environment } from '../environment.js';
import type { Identity } from '../identity.js';
import { newChat } from '../new-chat.js';
import type { Sessions } from '../sessions.js';

/** Creates a chat; the same id again by its owner gives the existing one. @throws {ChatError} `conflict` where the id is another's, or was deleted */
export function createChat(
  env: Environment,
  sessions: Sessions,
  identity: Identity,
  args: Args<'chat:create'>,
): Promise<Result<'chat:create'>> {
  const chatId = args.chatId ?? env.ids.id();
  return sessions.exclusively(chatId, async () => {
    const held = await sessions.chat(chatId);
    if (held) {
      if (!isInTenant(held, identity) || held.createdBy !== identity.userId) throw chatIdTaken();
      return { chat: held, created: false };
    }
    if (await env.store.isChatIdTaken(chatId)) throw chatIdTaken();
    const chat = await newChat(env, chatId, args, identity);
    await env.store.createChat(chat);
    return { chat, created: true };
  });
}
