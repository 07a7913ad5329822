import type { Message } from '../../protocol/index.js';
import type { ChatMessage } from './chat-message.js';
import type { Listed } from './message-chat.js';
import type { Standing } from './stored-message.js';

/** Makes a history shorter. What it gives is the list from then on; messages that it keeps are the same objects. */
export interface ChatReducer {
  reduce(messages: readonly ChatMessage[]): readonly ChatMessage[] | Promise<readonly ChatMessage[]>;
}

/**
 * What has to stand in the place of each message of the chat so that the list is what a reducer gave. A message that it
 * made comes before the next one that it kept, or after the last. Messages of the chat whose place does not change are left out.
 */
export function standingsOf(listed: readonly Listed[], reduced: readonly ChatMessage[]): Map<Message, Standing> {
  const before = standings(listed.map(({ row, message, isOwn }) => [row, isOwn ? null : message]));
  const after = standings(placesOf(listed, reduced));
  const changed = [...before].filter(([row, items]) => !isSame(items, after.get(row) ?? []));
  return new Map(changed.map(([row]) => [row, after.get(row) ?? []]));
}

type Place = readonly [row: Message, item: ChatMessage | null];

/** The list that a reducer gave, each of its messages with the message of the chat that it stands at. */
function placesOf(listed: readonly Listed[], reduced: readonly ChatMessage[]): Place[] {
  const indexOf = new Map(listed.map(({ message }, index) => [message, index]));
  const places: Place[] = [];
  let next = 0;
  let made: ChatMessage[] = [];
  const put = (row: Message, ...items: (ChatMessage | null)[]): void =>
    void places.push(...[...made, ...items].map((item): Place => [row, item]));
  for (const message of reduced) {
    const at = indexOf.get(message) ?? -1;
    const kept = at >= next ? listed[at] : undefined;
    if (kept) {
      put(kept.row, kept.isOwn ? null : message);
      made = [];
      next = at + 1;
    } else made.push(message);
  }
  const last = listed.at(-1);
  if (last) put(last.row);
  return places;
}

function standings(places: readonly Place[]): Map<Message, (ChatMessage | null)[]> {
  const of = new Map<Message, (ChatMessage | null)[]>();
  for (const [row, item] of places) {
    const items = of.get(row);
    if (items) items.push(item);
    else of.set(row, [item]);
  }
  return of;
}

const isSame = (some: Standing, others: Standing): boolean =>
  some.length === others.length && some.every((item, index) => item === others[index]);
