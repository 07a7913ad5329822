import type { ChatCommands } from '../commands.js';
import type { Message } from '../message.js';
import { isEnded } from '../turn.js';
import { uiIdOf } from './ui-message.js';

const PAGE = 200;
/** So far back a message is looked for. */
const MAX_PAGES = 50;

/** The input of the newest turn that a UI message of a person became, ascending; null where there is none. */
export async function findQuestion(
  commands: ChatCommands,
  chatId: string,
  uiMessageId: string,
): Promise<Message[] | null> {
  let before: number | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const range = before === undefined ? {} : { before };
    const { messages, hasMore } = await commands.call('message:list', { chatId, role: 'user', limit: PAGE, ...range });
    const found = messages.findLast((message) => (uiIdOf(message) ?? message.requestId) === uiMessageId);
    if (found) return questionOf(commands, found);
    before = messages[0]?.sequence;
    if (!hasMore || before === undefined) return null;
  }
  return null;
}

async function questionOf(commands: ChatCommands, { chatId, requestId, messageId }: Message): Promise<Message[]> {
  const range = requestId === null ? {} : { requestId };
  const { messages } = await commands.call('message:list', { chatId, role: 'user', limit: PAGE, ...range });
  return requestId === null ? messages.filter((message) => message.messageId === messageId) : messages;
}

/**
 * Takes the chat back to before a question: its turn and all later ones are stopped, and what was said in them is deleted.
 * To do it again changes nothing.
 *
 * @param newId gives ids that nothing has
 * @throws {ChatError} `forbidden`: only who may change the chat deletes messages; nothing is stopped then
 */
export async function rewind(commands: ChatCommands, question: readonly Message[], newId: () => string): Promise<void> {
  const [first] = question;
  if (!first) return;
  const { chatId, requestId } = first;
  // Who may not is told so here: whoever may talk may stop turns, too.
  await commands.call('message:delete', { chatId, messageIds: [newId()] });
  const later = await turnsSince(commands, chatId, requestId);
  await Promise.all(
    later
      .filter((turn) => !isEnded(turn.status))
      .map((turn) => commands.call('turn:stop', { chatId, requestId: turn.requestId })),
  );
  const gone = new Set(later.map((turn) => turn.requestId));
  const doomed: string[] = [];
  let after = first.sequence - 1;
  for (;;) {
    const { messages, hasMore } = await commands.call('message:list', { chatId, after, limit: PAGE });
    // The answer to an earlier question may have come later than this one.
    for (const message of messages)
      if (message.requestId === null || gone.has(message.requestId)) doomed.push(message.messageId);
    after = messages.at(-1)?.sequence ?? after;
    if (!hasMore || messages.length === 0) break;
  }
  for (let index = 0; index < doomed.length; index += PAGE)
    await commands.call('message:delete', { chatId, messageIds: doomed.slice(index, index + PAGE) });
}

/** A turn and all that came after it. */
async function turnsSince(commands: ChatCommands, chatId: string, requestId: string | null) {
  if (requestId === null) return [];
  const since = [];
  let before: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const range = before === undefined ? {} : { before };
    const { turns, hasMore } = await commands.call('turn:list', { chatId, limit: PAGE, ...range });
    const index = turns.findIndex((turn) => turn.requestId === requestId);
    since.push(...(index < 0 ? turns : turns.slice(0, index + 1)));
    before = turns.at(-1)?.requestId;
    if (index >= 0 || !hasMore || before === undefined) break;
  }
  return since;
}
