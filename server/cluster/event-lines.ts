import type { ChatEventType } from '../../protocol/index.js';
import type { LoggedEvent } from '../ports/live-log.js';
import { EventBatch } from '../session/subscriber.js';

/**
 * A batch of events on its way between nodes: a line of what they have in common (chat, epoch, first offset), then two lines
 * for each, its type and its JSON as it stands, which holds no line break.
 */
export function linesOf({ chatId, events }: EventBatch): string {
  const [first] = events;
  const lines = [JSON.stringify([chatId, first?.epoch ?? '', first?.offset ?? 0])];
  for (const { type, json } of events) lines.push(type, json);
  return lines.join('\n');
}

export function batchOf(text: string): EventBatch {
  const [head = '', ...lines] = text.split('\n');
  const [chatId, epoch, offset] = JSON.parse(head) as [string, string, number];
  const events: LoggedEvent[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const type = lines[index] as ChatEventType;
    events.push({ epoch, offset: offset + index / 2, type, json: lines[index + 1] ?? '' });
  }
  return new EventBatch(chatId, events);
}
