import type { ArgsInput, ChatCommands } from '../commands.js';
import type { Message } from '../message.js';
import type { Turn } from '../turn.js';
import type { UiMajor } from './chunk.js';
import { uiMessagesOf, type UiMessage } from './ui-message.js';
import { wholeTurn } from './whole-turn.js';

/** A part of a conversation as `useChat` takes it for its `messages`. */
export interface UiHistory {
  readonly messages: readonly UiMessage[];
  /** Whether there are older ones. */
  readonly hasMore: boolean;
  /** Where those end: for the next question. */
  readonly before: number | null;
}

const PAGE = 200;

/**
 * The newest messages, whole turns only: what of the oldest one lies beyond the page is read as well, or left for the next.
 *
 * @throws {ChatError} as `message:list`, and as {@link wholeTurn}
 */
export async function historyOf(
  commands: ChatCommands,
  args: ArgsInput<'message:list'>,
  major: UiMajor,
): Promise<UiHistory> {
  const page = await commands.call('message:list', args);
  const messages = page.hasMore ? await wholeTurns(commands, args.chatId, page.messages) : page.messages;
  const turns = await turnsOf(commands, args.chatId, messages);
  const [first] = messages;
  return {
    messages: uiMessagesOf(messages, turns, major),
    hasMore: page.hasMore,
    before: page.hasMore && first ? first.sequence : null,
  };
}

/** Without the turn that the page begins with, unless it is the only one: then with all of it. */
async function wholeTurns(
  commands: ChatCommands,
  chatId: string,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const requestId = messages[0]?.requestId ?? null;
  const others = messages.findIndex((message) => message.requestId !== requestId);
  if (others > 0) return messages.slice(others);
  if (requestId === null) return messages;
  const pages = await wholeTurn(commands, { chatId, requestId });
  return pages.flatMap((page) => page.messages);
}

async function turnsOf(
  commands: ChatCommands,
  chatId: string,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, Turn>> {
  const wanted = new Set(messages.flatMap(({ requestId }) => (requestId === null ? [] : [requestId])));
  if (wanted.size === 0) return new Map();
  const { turns } = await commands.call('turn:list', { chatId, limit: PAGE });
  const known = new Map(turns.map((turn) => [turn.requestId, turn]));
  const missing = [...wanted].filter((requestId) => !known.has(requestId));
  // Messages may be saved under the id of a turn that ran elsewhere.
  const asked = missing.map((requestId) => commands.call('turn:get', { requestId }).catch(() => null));
  for (const found of await Promise.all(asked)) if (found) known.set(found.turn.requestId, found.turn);
  return known;
}
