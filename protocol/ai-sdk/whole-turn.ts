import type { ChatCommands } from '../commands.js';
import { tooLarge } from '../error.js';
import { DEFAULT_LIMITS } from '../limits.js';
import type { AnswerPage } from './followed-answer.js';

const PAGE = 200;
/** Units of JSON: what a turn may come to, with the fields of its messages. More can only have been saved beside it. */
const MAX_LENGTH = DEFAULT_LIMITS.maxTurnBytes + 8 * 1024 * 1024;

/**
 * All messages of a turn, page by page, ascending.
 *
 * @throws {ChatError} `payload_too_large`: more was saved under its id than a turn may hold
 */
export async function wholeTurn(
  commands: ChatCommands,
  { chatId, requestId }: { readonly chatId: string; readonly requestId: string },
): Promise<AnswerPage[]> {
  const pages: AnswerPage[] = [];
  let length = 0;
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await commands.call('message:list', { chatId, requestId, limit: PAGE, after });
    length += JSON.stringify(page.messages).length;
    if (length > MAX_LENGTH) throw tooLarge('maxTurnBytes', DEFAULT_LIMITS.maxTurnBytes, { requestId });
    pages.push({ messages: page.messages, offset: page.position.offset });
    after = page.messages.at(-1)?.sequence ?? after;
    hasMore = page.hasMore && page.messages.length > 0;
  }
  return pages;
}
