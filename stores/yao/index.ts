import type { ChatCommands } from '../../protocol/index.js';
import { chatOperations, type ChatOperations } from './chats.js';
import { messageOperations, type MessageOperations } from './messages.js';
import { MemorySpace, spaceStoreOf, type Space, type SpaceStore } from './space.js';
import { stepOperations, type StepOperations } from './steps.js';
import { calendarOf } from './time-groups.js';

export type { Chat, NewChat } from './chat.js';
export type { ChatFilter, ChatList } from './chat-list.js';
export { YaoStoreError } from './error.js';
export type { Message, NewMessage } from './message.js';
export type { MessageFilter } from './messages.js';
export { MemorySpace, type Space, type SpaceStore } from './space.js';
export type { NewStep, Step } from './step.js';
export type { ChatGroup } from './time-groups.js';

/** The seed's storage of chats, in the seed's names. */
export interface ChatStore extends ChatOperations, MessageOperations, StepOperations {}

export interface YaoStoreOptions {
  /** The time in milliseconds since 1970, for `groupBy: 'time'`: `Date.now`, say. Without it there is no grouping. */
  readonly now?: () => number;
  /** Whose days those groups are: a name of the IANA. Default: UTC. */
  readonly timeZone?: string;
  /** The space that `space` takes its snapshots of and restores into. Default: an empty {@link MemorySpace}. */
  readonly space?: Space;
}

/**
 * YAO's `ChatStore` and `SpaceStore` over the chats of whoever runs the commands, in the process or over the network.
 * Chats are theirs, lists hold what they may read, and everybody who follows a chat sees what is written here.
 *
 * @throws {YaoStoreError} `bad_request` for a time zone that there is none of
 */
export function createYaoStore(
  chats: ChatCommands,
  options: YaoStoreOptions = {},
): { readonly chats: ChatStore; readonly space: SpaceStore } {
  const { now, timeZone = 'UTC', space = new MemorySpace() } = options;
  const time = { now, calendar: calendarOf(timeZone) };
  return {
    chats: { ...chatOperations(chats, time), ...messageOperations(chats), ...stepOperations(chats) },
    space: spaceStoreOf(space),
  };
}
