import { ChatError, type Args, type Chat, type Right } from '../../protocol/index.js';
import type { ChatFilter } from '../ports/store.js';
import type { Identity } from './identity.js';

/**
 * Who may do what (ACC-1 to ACC-3), in one place. The tables of commands name the right of each command; those of people
 * are checked here, on every call. Those of agents hang on what an agent holds, and are checked by what finds that
 * (`desk/agent-desk.ts`).
 */

type Shared = Pick<Chat, 'createdBy' | 'teamId' | 'tenantId' | 'share' | 'public'>;
type Caller = Pick<Identity, 'userId' | 'teamId' | 'tenantId' | 'roles'>;

const isCreator = (chat: Shared, { userId }: Caller): boolean => chat.createdBy === userId;
const isAdmin = ({ roles }: Caller): boolean => roles.includes('admin');
const isTeamMate = (chat: Shared, { teamId }: Caller): boolean =>
  chat.share === 'team' && chat.teamId !== null && chat.teamId === teamId;

/** ACC-1: whoever is not of its tenant cannot see or name it. */
export const isInTenant = (chat: Pick<Chat, 'tenantId'>, { tenantId }: Pick<Identity, 'tenantId'>): boolean =>
  chat.tenantId === tenantId;

/** ACC-1: the id is taken. Nothing more is said, whoever has it and whether it lives. */
export const chatIdTaken = (): ChatError => new ChatError('conflict', 'This chatId is taken.');

/** Its creator; the same team when shared with it; anyone of the tenant when public; an admin of the tenant. */
export const mayRead = (chat: Shared, caller: Caller): boolean =>
  isInTenant(chat, caller) && (isCreator(chat, caller) || isTeamMate(chat, caller) || chat.public || isAdmin(caller));

/** {@link mayRead} as a condition of the store: the chats that the caller may read, of the kind asked for. */
export function readable(caller: Caller, scope: Args<'chat:list'>['scope']): Pick<ChatFilter, 'tenantId' | 'anyOf'> {
  const { userId, teamId, tenantId } = caller;
  const mine = { createdBy: userId } as const;
  const team = teamId === null ? [] : [{ teamId, share: 'team' } as const];
  const open = { public: true } as const;
  const all = isAdmin(caller) ? [{ everything: true } as const] : [mine, ...team, open];
  return { tenantId, anyOf: { mine: [mine], team, public: [open], all }[scope] };
}

/** Its creator, or the same team when shared with it. */
export const mayTalk = (chat: Shared, caller: Caller): boolean =>
  isInTenant(chat, caller) && (isCreator(chat, caller) || isTeamMate(chat, caller));

/** Its creator, or an admin of the tenant. */
const mayChange = (chat: Shared, caller: Caller): boolean =>
  isInTenant(chat, caller) && (isCreator(chat, caller) || isAdmin(caller));

/** ACC-3: an agent serves what its token lists, or anything where it lists nothing. */
export const mayServe = ({ assistants }: Pick<Identity, 'assistants'>, assistantId: string): boolean =>
  assistants === null || assistants.includes(assistantId);

/** The rights that are about a chat. */
export type ChatRight = Exclude<Right, 'any' | 'admin'>;

const GRANTS: Readonly<Record<ChatRight, (chat: Shared, caller: Caller) => boolean>> = {
  read: mayRead,
  talk: mayTalk,
  change: mayChange,
};

/** CMD-1: what the caller may not read is as unknown to them as what does not exist. @throws {ChatError} `not_found`, `forbidden` */
export function mustHaveRight(chat: Chat | null, caller: Caller, right: ChatRight): asserts chat is Chat {
  if (!chat || !mayRead(chat, caller)) throw new ChatError('not_found');
  if (!GRANTS[right](chat, caller)) throw new ChatError('forbidden');
}

/** The rights that are about no chat. @throws {ChatError} `forbidden` */
export function mustBeFreeTo(caller: Caller, right: Exclude<Right, ChatRight>): void {
  if (right === 'admin' && !isAdmin(caller)) throw new ChatError('forbidden', 'This is for admins.');
}

/** The rights of agents that need no more than their identity. @throws {ChatError} `forbidden` for an assistant that it may not serve */
export function mustServe(
  identity: Pick<Identity, 'assistants'>,
  assistants: readonly { assistantId: string }[],
): void {
  for (const { assistantId } of assistants)
    if (!mayServe(identity, assistantId)) throw new ChatError('forbidden', `You may not serve ${assistantId}.`);
}
