import { isJsonObject, type JsonObject, type Message } from '../protocol/index.js';

/**
 * What a room keeps of a message that it saved without a turn: `metadata.<room>`, where only somebody who may change the
 * chat can have written it. Null for all other messages: whoever may talk makes turns, and writes what they like into the
 * metadata of their input.
 */
export function keptForm(
  { requestId, metadata }: Pick<Message, 'requestId' | 'metadata'>,
  room: string,
): JsonObject | null {
  const kept = metadata?.[room];
  return requestId === null && isJsonObject(kept) ? kept : null;
}
