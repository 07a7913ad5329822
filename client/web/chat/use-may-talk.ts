import type { ChatRow, ChatSnapshot, User } from '../../index.js';
import { useChatSnapshot } from '../../react/index.js';
import { useHello } from '../session/session-provider.js';

const chatOf = ({ chat }: ChatSnapshot): ChatRow | null => chat;

/** Whether a person may talk in a chat that they read (ACC-2). The server decides; this is for not offering what it refuses. */
function mayTalk(chat: ChatRow, user: User): boolean {
  const isTeams = chat.share === 'team' && chat.teamId !== null && chat.teamId === user.teamId;
  return chat.createdBy === user.userId || isTeams;
}

/** Whether a person may change or delete it (ACC-2). */
export const mayChange = (chat: ChatRow, user: User): boolean =>
  chat.createdBy === user.userId || user.roles.includes('admin');

/** Whether the person at this page may talk in the chat around this; true while that is not known. */
export function useMayTalk(): boolean {
  const chat = useChatSnapshot(chatOf);
  const user = useHello()?.user;
  return !chat || !user || mayTalk(chat, user);
}
