import type { ChatRow } from '../../index.js';

const MAX_TITLE = 60;

/** What a chat is called. */
export const titleOf = ({ title }: Pick<ChatRow, 'title'>): string => title || 'Untitled chat';

/** A title of what was said first. */
export function titleFrom(text: string): string {
  const lines = text.split('\n').map((one) =>
    one
      .replaceAll(/[*_`#|]+/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  const line = lines.find((one) => /[\p{L}\p{N}]/u.test(one)) ?? lines[0] ?? '';
  if (line.length <= MAX_TITLE) return line;
  const words = line.slice(0, MAX_TITLE + 1).replace(/\s\S*$/, '');
  return `${words.slice(0, MAX_TITLE)}…`;
}
