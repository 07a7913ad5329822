import type { Chat, ChatPatch, JsonObject, Message, Role, Step, Turn } from '../../protocol/index.js';

/**
 * The durable side of every chat: what a process can be killed over and a reader still finds.
 *
 * Promises of every implementation (`test/contract/store.ts` holds each to them):
 *
 * - A call that resolves is durable; one that rejects has changed nothing.
 * - Rows are given and taken as protocol values. Text comes back as it went in, times as ISO 8601 with milliseconds,
 *   JSON with equal structure (the order of keys is not promised).
 * - What was deleted is never given again by any read, and its id is never free again.
 * - A database that is locked, slow or gone is `storage_unavailable` (a retry can help) and is said quickly: waiting is
 *   the caller's policy. The event loop is never held longer than a few milliseconds at a time.
 * - Order is by `sequence`, never by time.
 */
export interface Store {
  // Chats

  /** @throws {ChatError} `conflict` when the id was ever used */
  createChat(chat: Chat): Promise<void>;
  /** The chat, null for an unknown or deleted one. */
  getChat(chatId: string): Promise<Chat | null>;
  /** Whether the id was ever used, and so is not free for a new chat. */
  isChatIdTaken(chatId: string): Promise<boolean>;
  /** @throws {ChatError} `not_found` */
  updateChat(chatId: string, patch: ChatPatch & { updatedBy?: string }, at: string): Promise<Chat>;
  /** Hides the chat with all its messages, turns and steps in one transaction. @throws {ChatError} `not_found` */
  deleteChat(chatId: string, at: string): Promise<void>;
  listChats(filter: ChatFilter): Promise<ChatPage>;
  /** How many chats that are not deleted somebody has created; counting stops at `atMost`. */
  countChats(owner: ChatOwner, atMost: number): Promise<number>;

  // Messages

  /** One more than the highest sequence that was ever given in the chat; 1 for a new chat. */
  nextSequence(chatId: string): Promise<number>;
  /**
   * Stores messages of a chat, upserting by id, all or none. An empty list is a success; one that was deleted stays so.
   * @throws {ChatError} `not_found` for a chat that is not there; `conflict` where an id or a sequence is another message's
   */
  saveMessages(chatId: string, messages: readonly Message[]): Promise<void>;
  /** Ascending by sequence; [] for an unknown or deleted chat. */
  getMessages(chatId: string, query: MessageQuery): Promise<Message[]>;
  /** The message, null for an unknown or deleted one (also by its chat). */
  getMessage(messageId: string): Promise<Message | null>;
  /** Those of the ids that were ever used, also by a message deleted since. */
  takenMessageIds(messageIds: readonly string[]): Promise<string[]>;
  /** @throws {ChatError} `not_found` */
  updateMessage(messageId: string, patch: MessagePatch, at: string): Promise<Message>;
  /** Deletes those of the ids that belong to the chat; gives the ids that were there, in the order asked. */
  deleteMessages(chatId: string, messageIds: readonly string[], at: string): Promise<string[]>;

  // Turns

  getTurn(requestId: string): Promise<TurnRecord | null>;
  /** The turns among these ids that exist, in no particular order. */
  getTurns(requestIds: readonly string[]): Promise<TurnRecord[]>;
  /**
   * Newest first (by creation), those before `before` where it is given.
   * @throws {ChatError} `not_found` with `details: {path: "before"}` where that is no turn of this chat
   */
  listTurns(chatId: string, query: TurnQuery): Promise<TurnRecord[]>;
  /** Every turn stored as `queued`, of one chat or of all, in the order in which they began to wait: what a start has to take up again. */
  queuedTurns(chatId?: string): Promise<TurnRecord[]>;
  /** The chat that a request id was ever used in, by a turn or by steps, also one deleted since; null: in none. */
  chatOfRequest(requestId: string): Promise<string | null>;

  // Steps

  /**
   * Stores steps, upserting by id, all or none. A completed step is never changed back.
   * @throws {ChatError} `not_found` for a chat that is not there; `conflict` where an id or a sequence is another step's
   */
  saveSteps(steps: readonly StepRecord[]): Promise<void>;
  /** @throws {ChatError} `not_found` */
  updateStep(stepId: string, patch: StepPatch, at: string): Promise<Step>;
  /** The step, null for an unknown or deleted one (also by its chat). */
  getStep(stepId: string): Promise<StepRecord | null>;
  /** Ascending by sequence. */
  getSteps(requestId: string): Promise<StepRecord[]>;
  /**
   * Of the newest turn that ended incomplete or runs again: its incomplete step (one that is not `handled`, TRN-9) of the
   * deepest stack, there of the highest sequence. Null where it has none, or no turn is incomplete: but then of steps that
   * stand without a turn, those of the request that was stored last.
   */
  lastIncompleteStep(chatId: string): Promise<Step | null>;
  /** Ascending by sequence. */
  getStepsByStack(stackId: string): Promise<StepRecord[]>;
  /** The chats that have steps of this stack, in no particular order. */
  chatsOfStack(stackId: string): Promise<string[]>;
  /** From the root to `stackId` within the chat; `[stackId]` for an unknown one. A cycle in the data ends the climb. */
  getStackPath(chatId: string, stackId: string): Promise<string[]>;

  // Write transactions of turns (TRN-8)

  /**
   * Stores these writes in one transaction, all or none. Writing one again changes nothing, and undoes nothing that came
   * after it. The end of a turn whose chat is not there any more is a success that stores nothing.
   * @throws {ChatError} with details {requestId} where it can be told: `conflict` where a request id, a new chat's id, the
   *   id of a message or step (`messageId` or `stepId` names it), or a sequence is taken by another; `not_found` for a begin
   *   in a chat that is not there; `storage_unavailable`
   */
  write(batch: readonly TurnWrite[]): Promise<void>;

  // Leases (LIF-4). Where the store was given fences, a write of a chat that this node does not hold, or does not hold any
  // more, is refused as `FencedOut`.

  /**
   * Makes a node the one holder of a chat, whether the chat is there already or not: from its return on nothing is stored by
   * any other. It waits for writes of the holder before that are under way.
   * @returns the fence of this holding: 1 for the first ever, one more at each taking
   */
  takeChat(chatId: string, nodeId: string, at: string): Promise<number>;
  /** The node that took the chat last, whether it still holds it or not; null where nobody ever did. */
  holderOf(chatId: string): Promise<string | null>;
  /** The newest fence of each of these chats; those that nobody ever took are left out. */
  fencesOf(chatIds: readonly string[]): Promise<ReadonlyMap<string, number>>;

  // Revocations

  /** Of one user or token the last one stands. */
  saveRevocation(revocation: Revocation): Promise<void>;
  listRevocations(): Promise<Revocation[]>;

  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ChatFilter {
  /** Only of this user, of this team. */
  readonly createdBy?: string;
  readonly teamId?: string;
  /** Whose chats: conditions joined by OR, inside one tenant. */
  readonly tenantId: string | null;
  readonly anyOf: readonly (
    | { readonly createdBy: string }
    | { readonly teamId: string; readonly share: 'team' }
    | { readonly public: true }
    | { readonly everything: true }
  )[];
  readonly assistantId?: string;
  readonly status?: Chat['status'];
  /** A literal, case-insensitive (Unicode) part of the title. */
  readonly keywords?: string;
  /** Inclusive bounds on `timeField`. */
  readonly startTime?: string;
  readonly endTime?: string;
  readonly timeField?: ChatTimeField;
  /** Default: `lastMessageAt` (the time of creation until there is one), descending; ties by chat id in the same direction. */
  readonly orderBy?: ChatTimeField;
  readonly order?: 'asc' | 'desc';
  readonly page: number;
  readonly pageSize: number;
}
export type ChatTimeField = 'lastMessageAt' | 'createdAt' | 'updatedAt';

export interface ChatOwner {
  readonly tenantId: string | null;
  readonly createdBy: string;
}

export interface ChatPage {
  readonly data: Chat[];
  readonly page: number;
  readonly pageSize: number;
  /** At least 1. */
  readonly pageCount: number;
  readonly total: number;
}

export interface MessageQuery {
  readonly requestId?: string;
  readonly role?: Role;
  readonly blockId?: string;
  readonly threadId?: string;
  readonly type?: string;
  /** Exclusive bounds on the sequence. */
  readonly before?: number;
  readonly after?: number;
  /** At most this many. Counted from the newest, unless `after` or `offset` is given: then from the oldest. Without a limit: all. */
  readonly limit?: number;
  /** Skips this many from the oldest. */
  readonly offset?: number;
}

export interface MessagePatch {
  readonly type?: string;
  readonly props?: JsonObject;
  readonly metadata?: JsonObject | null;
}

export interface TurnQuery {
  readonly before?: string;
  readonly limit: number;
  /** Only those that ended interrupted or failed. */
  readonly incomplete?: boolean;
}

/** Whom an admin of the tenant has shut out: a user, or one token by its claim `jti`. */
export type Revocation = {
  readonly tenantId: string | null;
  readonly revokedBy: string;
  readonly revokedAt: string;
} & ({ readonly userId: string } | { readonly tokenId: string });

/** A turn as it is stored: what the protocol shows, and what only the server needs. */
export interface TurnRecord {
  readonly turn: Turn;
  /** TRN-1: the hash of the start's body, for comparing a repeated one. */
  readonly fingerprint: string;
  /** The stack id of the root frame, the same in all attempts. */
  readonly rootStackId: string;
  /** TRN-11: the turn whose input this one answers anew. */
  readonly regenerates: string | null;
  /** The agent that opened it, null where a person started it. */
  readonly openedBy: string | null;
}

/** A step with the order in which steps were last begun, over all attempts (TRN-9). */
export interface StepRecord {
  readonly step: Step;
  readonly beginOrder: number;
}

export interface StepPatch {
  readonly status?: Step['status'];
  readonly output?: Step['output'];
  readonly error?: Step['error'];
  readonly spaceSnapshot?: JsonObject | null;
  readonly metadata?: JsonObject | null;
}

/**
 * - `begin`, write 1: the turn as queued, its input, the chat where it is new. For a resume the turn's next attempt and no messages.
 * - `end`, write 2: the turn as it ended, the messages of the attempt, what it superseded, all its steps, the chat's last activity.
 */
export type TurnWrite =
  | {
      readonly kind: 'begin';
      readonly record: TurnRecord;
      readonly messages: readonly Message[];
      readonly newChat: Chat | null;
      readonly at: string;
    }
  | {
      readonly kind: 'end';
      readonly record: TurnRecord;
      readonly messages: readonly Message[];
      readonly deletedMessageIds: readonly string[];
      readonly steps: readonly StepRecord[];
      /** The highest sequence given in the chat so far, also to messages that were deleted before they were stored. */
      readonly lastSequence: number;
      readonly at: string;
    };
