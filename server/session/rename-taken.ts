import type { ChatError } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { LiveTurn } from './live-turn.js';

/**
 * Ids of messages and steps are made by agents and meant to be unique in the world. One that is another's after all may
 * cost neither: the row that is there stays, and what this attempt holds gets an id of ours. Whoever follows the chat sees
 * the message go and come again under its new id.
 *
 * @returns whether the conflict was over such an id
 */
export function renameTaken(session: ChatSession, live: LiveTurn, conflict: ChatError): boolean {
  const { messageId, stepId } = conflict.details;
  if (typeof stepId === 'string') return live.steps.rename(stepId, session.env.ids.id());
  const taken = typeof messageId === 'string' ? live.messages.take(messageId) : undefined;
  if (!taken) return false;
  const message = { ...taken, messageId: session.env.ids.id(), sequence: session.takeSequence() };
  session.emit({ type: 'message.deleted', requestId: live.requestId, messageIds: [taken.messageId] }, live);
  live.messages.restore(message);
  session.emit({ type: 'message.created', requestId: live.requestId, message }, live);
  session.env.log.warn(
    { chatId: session.chatId, requestId: live.requestId, taken: taken.messageId },
    'the id of a message is taken',
  );
  return true;
}
