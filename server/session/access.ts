import type { Chat } from '../../protocol/index.js';
import type { Identity } from './identity.js';

/** ACC-1 and ACC-2, in one place: who may do what with a chat. */

type Shared = Pick<Chat, 'createdBy' | 'teamId' | 'tenantId' | 'share' | 'public'>;

const sameTenant = (chat: Shared, { tenantId }: Identity): boolean => chat.tenantId === tenantId;
const isCreator = (chat: Shared, { userId }: Identity): boolean => chat.createdBy === userId;
const isAdmin = ({ roles }: Identity): boolean => roles.includes('admin');
const isTeamMate = (chat: Shared, { teamId }: Identity): boolean =>
  chat.share === 'team' && chat.teamId !== null && chat.teamId === teamId;

/** Its creator; the same team when shared with it; anyone of the tenant when public; an admin of the tenant. */
export const mayRead = (chat: Shared, caller: Identity): boolean =>
  sameTenant(chat, caller) && (isCreator(chat, caller) || isTeamMate(chat, caller) || chat.public || isAdmin(caller));

/** Its creator, or the same team when shared with it. */
export const mayTalk = (chat: Shared, caller: Identity): boolean =>
  sameTenant(chat, caller) && (isCreator(chat, caller) || isTeamMate(chat, caller));

/** Its creator, or an admin of the tenant. */
export const mayChange = (chat: Shared, caller: Identity): boolean =>
  sameTenant(chat, caller) && (isCreator(chat, caller) || isAdmin(caller));
