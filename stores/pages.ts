import type { ArgsInput, ChatCommands, Message, Result } from '../protocol/index.js';

/** What of a chat's messages is asked for, whatever the number. */
export type MessageRange = Omit<ArgsInput<'message:list'>, 'limit' | 'before' | 'after' | 'offset'>;

/** The most that one command gives. It may give fewer where they are large, so that only `hasMore` tells the end. */
const PAGE = 200;

/** The pages of the range behind a sequence, ascending; at least one, which may be empty. @throws {ChatError} `not_found` */
export async function* pagesBehind(
  chats: ChatCommands,
  range: MessageRange,
  sequence: number,
): AsyncGenerator<Result<'message:list'>, void> {
  for (let after: number | undefined = sequence; after !== undefined;) {
    const page: Result<'message:list'> = await chats.call('message:list', { ...range, limit: PAGE, after });
    yield page;
    after = page.hasMore ? page.messages.at(-1)?.sequence : undefined;
  }
}

/** Every message of the range, ascending, read page by page. @throws {ChatError} `not_found` */
export async function allMessages(chats: ChatCommands, range: MessageRange): Promise<Message[]> {
  const found: Message[] = [];
  for await (const { messages } of pagesBehind(chats, range, 0)) found.push(...messages);
  return found;
}

/** So many of the range, or all, behind the oldest `skipped` ones, ascending. @throws {ChatError} `not_found` */
export async function messagesBehind(
  chats: ChatCommands,
  range: MessageRange,
  skipped: number,
  count = Infinity,
): Promise<Message[]> {
  const found: Message[] = [];
  for (;;) {
    const last = found.at(-1);
    const { messages, hasMore } = await chats.call('message:list', {
      ...range,
      limit: Math.min(PAGE, count - found.length),
      ...(last ? { after: last.sequence } : { offset: skipped }),
    });
    found.push(...messages);
    if (messages.length === 0 || !hasMore || found.length >= count) return found;
  }
}

/** The newest `count` of the range, of those below the sequence `before` where one is given, ascending. @throws {ChatError} `not_found` */
export async function newestMessages(
  chats: ChatCommands,
  range: MessageRange,
  count: number,
  before?: number,
): Promise<Message[]> {
  let found: Message[] = [];
  for (let below = before; found.length < count;) {
    const { messages, hasMore } = await chats.call('message:list', {
      ...range,
      limit: Math.min(PAGE, count - found.length),
      ...(below === undefined ? {} : { before: below }),
    });
    found = [...messages, ...found];
    below = messages[0]?.sequence;
    if (below === undefined || !hasMore) break;
  }
  return found;
}
