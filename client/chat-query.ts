import type { ArgsInput, Chat as ChatRow, User } from '../protocol/index.js';

/**
 * Which chats a list has, and in which order: what `chat:list` takes. Default: one's own, newest activity first. Bounds in
 * time are bounds of the time by which the list is ordered.
 */
export type ChatQuery = Readonly<Omit<ArgsInput<'chat:list'>, 'page' | 'pageSize' | 'timeField'>>;

/** Names a query: two of the same name have the same list. */
export const queryKey = (query: ChatQuery): string =>
  JSON.stringify(
    Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** The time by which a list is ordered. Until there is a message the last one's time is that of creation. */
export function timeOf({ orderBy: field = 'lastMessageAt' }: ChatQuery, chat: ChatRow): string {
  return field === 'lastMessageAt' ? (chat.lastMessageAt ?? chat.createdAt) : chat[field];
}

/** Less than 0 where `a` comes first. */
export function compareChats(query: ChatQuery, a: ChatRow, b: ChatRow): number {
  const [left, right] = [timeOf(query, a) + a.chatId, timeOf(query, b) + b.chatId];
  const ascending = left < right ? -1 : left > right ? 1 : 0;
  return query.order === 'asc' ? ascending : -ascending;
}

/** Whether the server would put a chat, which the caller may read, into the list. */
export function belongs(query: ChatQuery, user: User | null, chat: ChatRow): boolean {
  const { assistantId, status, keywords, createdBy, teamId } = query;
  return (
    isInScope(query, user, chat) &&
    isInTime(query, chat) &&
    (assistantId === undefined || chat.assistantId === assistantId) &&
    (status === undefined || chat.status === status) &&
    (createdBy === undefined || chat.createdBy === createdBy) &&
    (teamId === undefined || chat.teamId === teamId) &&
    (!keywords || (chat.title ?? '').toLowerCase().includes(keywords.toLowerCase()))
  );
}

function isInTime(query: ChatQuery, chat: ChatRow): boolean {
  const { startTime, endTime } = query;
  const time = Date.parse(timeOf(query, chat));
  return (
    (startTime === undefined || time >= Date.parse(startTime)) && (endTime === undefined || time <= Date.parse(endTime))
  );
}

function isInScope({ scope = 'mine' }: ChatQuery, user: User | null, chat: ChatRow): boolean {
  switch (scope) {
    case 'mine':
      return chat.createdBy === user?.userId;
    case 'team':
      return chat.share === 'team' && chat.teamId !== null && chat.teamId === user?.teamId;
    case 'public':
      return chat.public;
    case 'all':
      return true;
  }
}
