import { ChatError, definedOf, tooLarge, type Args, type Message } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { eventEffects } from './effect.js';
import type { LiveTurn } from './live-turn.js';
import { messageBytes } from './message-buffer.js';
import { Undo } from './undo.js';

/** CMD-4: what people do to messages passes through the chat's single writer, also while a turn runs. */

/** Edits a closed message. @throws {ChatError} `conflict` while it is open, `not_found`, `payload_too_large` */
export async function updateMessage(session: ChatSession, args: Args<'message:update'>): Promise<Message> {
  const { messageId, ...patch } = args;
  const live = holderOf(session, messageId);
  if (live) return updateBuffered(session, live, args);
  const stored = await session.env.store.getMessage(messageId);
  if (stored?.chatId !== session.chatId || isSuperseded(session, messageId)) throw new ChatError('not_found');
  const { maxMessageBytes } = session.env.settings.limits;
  if (messageBytes({ ...stored, ...definedOf(patch) }) > maxMessageBytes)
    throw tooLarge('maxMessageBytes', maxMessageBytes);
  const message = await session.env.store.updateMessage(messageId, definedOf(patch), session.now);
  session.messageStored(messageId, message);
  session.emit({
    type: 'message.updated',
    ...(message.requestId === null ? {} : { requestId: message.requestId }),
    message,
  });
  return message;
}

function updateBuffered(
  session: ChatSession,
  live: LiveTurn,
  { messageId, ...patch }: Args<'message:update'>,
): Message {
  const held = live.messages.get(messageId) as Message;
  if (held.state === 'open') throw new ChatError('conflict', 'This message is still open.');
  const message: Message = { ...held, ...definedOf(patch), updatedAt: session.now };
  const bodies = live.messages.update(message, live.room, new Undo());
  session.publish(eventEffects(bodies), live);
  return message;
}

/** Deletes messages, open ones too. @returns the ids that were there, in the order asked */
export async function deleteMessages(session: ChatSession, { messageIds }: Args<'message:delete'>): Promise<string[]> {
  const gone = new Set<string>();
  for (const live of session.turns.values()) {
    const mine = isEditable(live) ? messageIds.filter((messageId) => live.messages.delete(messageId, new Undo())) : [];
    announce(session, mine, gone, live);
  }
  const elsewhere = [...new Set(messageIds)].filter(
    (messageId) => !gone.has(messageId) && !isSuperseded(session, messageId),
  );
  if (elsewhere.length > 0) {
    const stored = await session.env.store.deleteMessages(session.chatId, elsewhere, session.now);
    for (const messageId of stored) session.messageStored(messageId, null);
    for (const live of session.turns.values()) live.superseded.drop(new Set(stored));
    announce(session, stored, gone);
  }
  return [...new Set(messageIds)].filter((messageId) => gone.has(messageId));
}

function announce(session: ChatSession, messageIds: readonly string[], gone: Set<string>, live?: LiveTurn): void {
  if (messageIds.length === 0) return;
  for (const messageId of messageIds) gone.add(messageId);
  session.emit(
    { type: 'message.deleted', ...(live ? { requestId: live.requestId } : {}), messageIds: [...messageIds] },
    live,
  );
}

/** The turn whose buffer holds the message. */
function holderOf(session: ChatSession, messageId: string): LiveTurn | undefined {
  return [...session.turns.values()].find((live) => isEditable(live) && live.messages.get(messageId) !== undefined);
}

/** Whether what people do to its messages is done in its buffer. Nobody looks there again once it is stored. */
const isEditable = ({ isBuffered, isStored }: LiveTurn): boolean => isBuffered && !isStored;

/** Whether a running attempt has replaced it: gone for everybody, though its row stands until write 2. */
export const isSuperseded = (session: ChatSession, messageId: string): boolean =>
  [...session.turns.values()].some((live) => live.deletedStored.has(messageId));
