import type { InputMessage, Message } from '../../protocol/index.js';

/** A message that is given whole, as it is stored and handed to assistants: closed from the first, and a user's. */
export function inputRow(
  place: Pick<Message, 'chatId' | 'requestId'>,
  draft: InputMessage,
  given: { readonly messageId: string; readonly sequence: number; readonly at: string },
): Message {
  const { type, props, blockId = null, threadId = null, metadata = null } = draft;
  return {
    messageId: given.messageId,
    chatId: place.chatId,
    requestId: place.requestId,
    role: 'user',
    type,
    props,
    blockId,
    threadId,
    stepId: null,
    assistantId: null,
    sequence: given.sequence,
    state: 'closed',
    metadata,
    createdAt: given.at,
    updatedAt: given.at,
  };
}
