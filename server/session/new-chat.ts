import type { Args, Chat } from '../../protocol/index.js';
import { isoNow } from '../clock.js';
import type { Environment } from './environment.js';
import type { Identity } from './identity.js';

/** What a new chat is given: by its creator, and where they leave it open, by default. */
type ChatDraft = Partial<Args<'chat:create'>> & { readonly assistantId: string };

/** A chat as it is stored first. */
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
