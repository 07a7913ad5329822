import type { ChatError } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { isSuperseded } from './edit-messages.js';
import type { LiveTurn } from './live-turn.js';

/**
 * Ids of messages and steps are made by agents and meant to be unique in the world. One that is another's after all may
 * cost neither: the row that is there stays, and what this attempt holds gets an id of ours. Whoever follows the chat sees
 * the message go and come again under its new id, and the one whose place it had taken come back (DAT-4).
 *
 * @returns whether the conflict was over such an id
 * @throws {ChatError} `storage_unavailable`; nothing is renamed then
 */
export async function renameTaken(session: ChatSession, live: LiveTurn, conflict: ChatError): Promise<boolean> {
  const { messageId, stepId } = conflict.details;
  if (typeof stepId === 'string') return live.steps.rename(stepId, session.env.ids.id());
  if (typeof messageId !== 'string') return false;
  const other = await session.env.store.getMessage(messageId);
  const taken = session.isDeleted ? undefined : live.messages.take(messageId);
  if (!taken) return false;
  session.emit({ type: 'message.deleted', requestId: live.requestId, messageIds: [messageId] }, live);
  // Not as an event of its turn, which may be over (TRN-6), nor into the journal of this one, whose message it is not.
  if (other?.chatId === session.chatId && !isSuperseded(session, messageId))
    session.emit({ type: 'message.created', message: other });
  const message = { ...taken, messageId: session.env.ids.id(), sequence: session.sequences.take() };
  live.messages.restore(message);
  session.emit({ type: 'message.created', requestId: live.requestId, message }, live);
  session.env.log.warn(
    { chatId: session.chatId, requestId: live.requestId, taken: messageId },
    'the id of a message is taken',
  );
  return true;
}
