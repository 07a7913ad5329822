import { utf8Bytes } from '../../../protocol/index.js';
import type { MessageRow, NamedMessage } from './message-row.js';

/** Messages saved at a time: few enough that a chat in use is not held up. */
const MESSAGES_AT_ONCE = 200;
/** What stands around the messages of one command: its name, the chat's id, the transport's own. */
const AROUND_BYTES = 512;

/** Messages of rows, in order, that go in one command. */
export interface Page {
  readonly rows: readonly MessageRow[];
  readonly messages: readonly NamedMessage[];
}

const bytesOf = (message: NamedMessage): number => utf8Bytes(JSON.stringify(message)) + 1;

/** Why no command can carry a row, null where one can. */
export function oversize(row: MessageRow, maxFrameBytes: number): string | null {
  const bytes = Math.max(...row.messages.map(bytesOf));
  if (bytes + AROUND_BYTES <= maxFrameBytes) return null;
  return `a message of ${bytes} bytes is larger than the server lets a command be (MAX_FRAME_BYTES, ${maxFrameBytes})`;
}

/** Rows put together into commands that are not too large; only a row too large for one of its own is divided. */
export function* pagesOf(rows: readonly MessageRow[], maxFrameBytes: number): Generator<Page> {
  for (const page of loadsOf(rows, ({ messages }) => messages, maxFrameBytes))
    yield { rows: page, messages: page.flatMap(({ messages }) => messages) };
}

/** The commands of one row, which its messages are spread over where one cannot carry them. */
export const piecesOf = ({ messages }: Pick<Page, 'messages'>, maxFrameBytes: number): Iterable<NamedMessage[]> =>
  loadsOf(messages, (message) => [message], maxFrameBytes);

/** What one command can carry, in order, and never nothing: an item that is too much stands alone. */
function* loadsOf<T>(
  items: readonly T[],
  messagesOf: (item: T) => readonly NamedMessage[],
  maxFrameBytes: number,
): Generator<T[]> {
  let load: T[] = [];
  let count = 0;
  let bytes = AROUND_BYTES;
  for (const item of items) {
    const messages = messagesOf(item);
    const size = messages.reduce((sum, message) => sum + bytesOf(message), 0);
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
