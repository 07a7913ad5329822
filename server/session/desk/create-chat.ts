import { ChatError, type Args, type Chat, type Result } from '../../../protocol/index.js';
import { isoNow } from '../../clock.js';
import type { Environment } from '../environment.js';
import type { Identity } from '../identity.js';
import { mayChange } from '../access.js';
import type { Sessions } from '../sessions.js';

/** What a new chat is given: by its creator, and where they leave it open, by default. */
export type ChatDraft = Partial<Args<'chat:create'>> & { readonly assistantId: string };

export function newChat(
  env: Environment,
  chatId: string,
  draft: ChatDraft,
  creator: Pick<Identity, 'userId' | 'teamId' | 'tenantId'>,
): Chat {
  const at = isoNow(env.clock);
  return {
    chatId,
    title: draft.title ?? null,
    assistantId: draft.assistantId,
    mode: draft.mode ?? 'chat',
    status: 'active',
    preset: draft.preset ?? false,
    public: draft.public ?? false,
    share: draft.share ?? 'private',
    sort: draft.sort ?? 0,
    lastMessageAt: null,
    metadata: draft.metadata ?? null,
    createdBy: creator.userId,
    teamId: creator.teamId,
    tenantId: creator.tenantId,
    createdAt: at,
    updatedAt: at,
  };
}

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
      if (held.createdBy !== identity.userId || !mayChange(held, identity))
        throw new ChatError('conflict', 'This chatId is taken.');
      return { chat: held, created: false };
    }
    const chat = newChat(env, chatId, args, identity);
    await env.store.createChat(chat);
    return { chat, created: true };
  });
}
