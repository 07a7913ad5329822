import type { InputMessage, Message, Turn } from '../../protocol/index.js';

/** A message of a turn's input, as it is stored and handed to assistants: closed from the first. */
export function inputRow(
  turn: Pick<Turn, 'chatId' | 'requestId'>,
  draft: InputMessage,
  given: { readonly messageId: string; readonly sequence: number; readonly at: string },
): Message {
  const { type, props, blockId = null, threadId = null, metadata = null } = draft;
  return {
    messageId: given.messageId,
    chatId: turn.chatId,
    requestId: turn.requestId,
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
