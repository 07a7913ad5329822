import type { Chat as ChatRow } from '../protocol/index.js';
import { compareChats, type ChatQuery } from './chat-query.js';

/** The newer of two rows of one chat. Of a chat that is followed, its last activity is known before it is stored. */
export function newerRow(held: ChatRow, other: ChatRow): ChatRow {
  const newer = other.updatedAt >= held.updatedAt ? other : held;
  const last = [held.lastMessageAt, other.lastMessageAt].reduce((a, b) => ((a ?? '') >= (b ?? '') ? a : b));
  const row = newer.lastMessageAt === last ? newer : { ...newer, lastMessageAt: last };
  return JSON.stringify(row) === JSON.stringify(held) ? held : row;
}

/** The rows with this one at its place. Rows that do not change keep their references. */
export function withRow(query: ChatQuery, rows: readonly ChatRow[], row: ChatRow): readonly ChatRow[] {
  const held = rows.find(({ chatId }) => chatId === row.chatId);
  const next = held ? newerRow(held, row) : row;
  if (next === held) return rows;
  const others = rows.filter((each) => each !== held);
  return [...others, next].sort((a, b) => compareChats(query, a, b));
}

export function withoutRow(rows: readonly ChatRow[], chatId: string): readonly ChatRow[] {
  return rows.some((row) => row.chatId === chatId) ? rows.filter((row) => row.chatId !== chatId) : rows;
}
