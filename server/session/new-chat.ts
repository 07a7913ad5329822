import { ChatError, type Args, type Chat } from '../../protocol/index.js';
import { isoNow, notAfter } from '../clock.js';
import type { Environment } from './environment.js';
import type { Identity } from './identity.js';

/** What a new chat is given: by its creator, and where they leave it open, by default. */
type ChatDraft = Partial<Args<'chat:create'>> & { readonly assistantId: string };

type Creator = Pick<Identity, 'userId' | 'teamId' | 'tenantId'>;

/** Somebody who has too many chats deletes some first; trying again at once is of no use. */
const FULL_RETRY_MS = 60_000;

/** A chat as it is stored first. @throws {ChatError} `rate_limited` for one who has as many as anybody may have */
export async function newChat(env: Environment, chatId: string, draft: ChatDraft, creator: Creator): Promise<Chat> {
  await mustHaveRoom(env, creator);
  const now = isoNow(env.clock);
  return {
    chatId,
    title: draft.title ?? null,
    assistantId: draft.assistantId,
    mode: draft.mode ?? 'chat',
    status: draft.status ?? 'active',
    preset: draft.preset ?? false,
    public: draft.public ?? false,
    share: draft.share ?? 'private',
    sort: draft.sort ?? 0,
    lastMessageAt: null,
    metadata: draft.metadata ?? null,
    createdBy: creator.userId,
    teamId: creator.teamId,
    tenantId: creator.tenantId,
    createdAt: notAfter(now, draft.createdAt),
    updatedAt: now,
  };
}

/** Chats that are created in the same moment do not see each other here: the bound is one of size, not of rank. */
async function mustHaveRoom({ store, settings }: Environment, { tenantId, userId }: Creator): Promise<void> {
  const max = settings.maxChatsPerUser;
  if ((await store.countChats({ tenantId, createdBy: userId }, max)) < max) return;
  throw new ChatError('rate_limited', 'This user has as many chats as one may have.', {
    details: { limit: 'maxChatsPerUser', max },
    retryAfterMs: FULL_RETRY_MS,
  });
}
