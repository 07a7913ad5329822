import type { Message } from '../../protocol/index.js';
import type { ChatMessage } from './chat-message.js';
import type { Listed } from './message-chat.js';
import { isTalkers, type Standing } from './stored-message.js';

/** Makes a history shorter. What it gives is the list from then on; messages that it keeps are the same objects. */
export interface ChatReducer {
  reduce(messages: readonly ChatMessage[]): readonly ChatMessage[] | Promise<readonly ChatMessage[]>;
}

/**
 * What has to stand in the place of each message of the chat so that the list is what a reducer gave. A message that it
 * made comes before the next one that it kept, or after the last. Messages of the chat whose place does not change are left out.
 */
export function standingsOf(listed: readonly Listed[], reduced: readonly ChatMessage[]): Map<Message, Standing> {
  const places = new Map<Message, (ChatMessage | null)[]>(listed.map(({ row }) => [row, []]));
  let next = 0;
  let made: ChatMessage[] = [];
  const put = (row: Message | undefined, ...items: (ChatMessage | null)[]): void => {
    if (row) places.get(row)?.push(...items);
  };
  for (const message of reduced) {
    const at = listed.findIndex((entry, index) => index >= next && entry.message === message);
    const kept = listed[at];
    if (kept) {
      // What a reducer made is believed only where no talker can have written it: it waits for such a place.
      const isPlace = !isTalkers(kept.row);
      put(kept.row, ...(isPlace ? made : []), kept.isOwn ? null : message);
      if (isPlace) made = [];
      next = at + 1;
    } else made.push(message);
  }
  put((listed.findLast(({ row }) => !isTalkers(row)) ?? listed.at(-1))?.row, ...made);
  for (const row of places.keys()) {
    const before = listed.filter((entry) => entry.row === row).map(({ isOwn, message }) => (isOwn ? null : message));
    const after = places.get(row) ?? [];
    if (before.length === after.length && before.every((item, index) => item === after[index])) places.delete(row);
  }
  return places;
}
