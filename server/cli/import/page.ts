import { utf8Bytes } from '../../../protocol/index.js';
import type { MessageRow, NamedMessage } from './message-row.js';

/** Messages saved at a time: few enough that a chat in use is not held up. */
const MESSAGES_AT_ONCE = 200;
/** What stands around the messages of one command: its name, the chat's id, the transport's own. */
const AROUND_BYTES = 512;

/** A message, and the bytes of it in a command. */
export interface WeighedMessage {
  readonly message: NamedMessage;
  readonly bytes: number;
}

export type WeighedRow = Omit<MessageRow, 'messages'> & { readonly messages: readonly WeighedMessage[] };

export const weighed = (row: MessageRow): WeighedRow => ({
  ...row,
  messages: row.messages.map((message) => ({ message, bytes: utf8Bytes(JSON.stringify(message)) + 1 })),
});

/** Why no command can carry a row, null where one can. */
export function oversize({ messages }: WeighedRow, maxFrameBytes: number): string | null {
  const bytes = messages.reduce((most, message) => Math.max(most, message.bytes), 0);
  if (bytes + AROUND_BYTES <= maxFrameBytes) return null;
  return `a message of ${bytes} bytes is larger than the server lets a command be (MAX_FRAME_BYTES, ${maxFrameBytes})`;
}

/** Rows put together into commands that are not too large; only a row too large for one of its own is divided. */
export const pagesOf = (rows: readonly WeighedRow[], maxFrameBytes: number): Iterable<WeighedRow[]> =>
  loadsOf(rows, ({ messages }) => messages, maxFrameBytes);

/** The commands of some rows: one, but where one row has more than a command can carry. */
export const commandsOf = (rows: readonly WeighedRow[], maxFrameBytes: number): Iterable<WeighedMessage[]> =>
  loadsOf(
    rows.flatMap(({ messages }) => messages),
    (message) => [message],
    maxFrameBytes,
  );

/** What one command can carry, in order, and never nothing: an item that is too much stands alone. */
function* loadsOf<T>(
  items: readonly T[],
  messagesOf: (item: T) => readonly WeighedMessage[],
  maxFrameBytes: number,
): Generator<T[]> {
  let load: T[] = [];
  let count = 0;
  let bytes = AROUND_BYTES;
  for (const item of items) {
    const messages = messagesOf(item);
    const size = messages.reduce((sum, message) => sum + message.bytes, 0);
    const isFull = count + messages.length > MESSAGES_AT_ONCE || bytes + size > maxFrameBytes;
    if (isFull && load.length > 0) {
      yield load;
      [load, count, bytes] = [[], 0, AROUND_BYTES];
    }
    load.push(item);
    count += messages.length;
    bytes += size;
  }
  if (load.length > 0) yield load;
}
