import type { Message } from '../../../protocol/index.js';
import { timeIn } from './dialect.js';
import { RowStatement } from './upsert.js';

/** What happened in a chat. */
export interface ChatActivity {
  readonly chatId: string;
  /** The highest sequence that was given. */
  readonly lastSequence: number;
  /** The newest message's time, null where there was none. */
  readonly messageAt: string | null;
  readonly at: string;
}

export function activityOf(chatId: string, messages: readonly Message[], at: string, lastSequence = 0): ChatActivity {
  let messageAt: string | null = null;
  for (const { sequence, createdAt } of messages) {
    lastSequence = Math.max(lastSequence, sequence);
    // ISO 8601 in one form sorts as time does.
    if (messageAt === null || createdAt > messageAt) messageAt = createdAt;
  }
  return { chatId, lastSequence, messageAt, at };
}

const later = (column: string, than: string): string =>
  `CASE WHEN ${than} IS NOT NULL AND (${column} IS NULL OR ${column} < ${than}) THEN ${than} ELSE ${column} END`;

/** Raises what only grows: writing it again, or late, changes nothing. */
export const raiseActivity = new RowStatement<ChatActivity>(
  ({ typed }) =>
    `UPDATE agent_chat SET last_sequence = ${later('last_sequence', 'new.sequence')}, ` +
    `last_message_at = ${later('last_message_at', 'new.message_at')}, ` +
    // Until there is a message it holds the time of creation, which may be later than the first message's.
    `activity_at = CASE WHEN last_message_at IS NULL AND new.message_at IS NOT NULL THEN new.message_at ` +
    `ELSE ${later('activity_at', 'new.message_at')} END, ` +
    `updated_at = ${later('updated_at', 'new.at')} ` +
    `FROM (SELECT ${typed('integer')} AS sequence, ${typed('time')} AS message_at, ${typed('time')} AS at) AS new ` +
    'WHERE chat_id = ? AND deleted_at IS NULL',
  [
    ['sequence', (activity) => activity.lastSequence],
    ['message_at', (activity) => (activity.messageAt === null ? null : timeIn(activity.messageAt))],
    ['at', (activity) => timeIn(activity.at)],
    ['chat_id', (activity) => activity.chatId],
  ],
);
