import type { Chat, ChatPatch, Message } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { Fences } from '../../ports/fence.js';
import type {
  ChatFilter,
  ChatOwner,
  MessagePatch,
  MessageQuery,
  Revocation,
  StepPatch,
  StepRecord,
  Store,
  TurnQuery,
  TurnWrite,
} from '../../ports/store.js';
import * as chats from './chats.js';
import { Database, type TransactionKind } from './database.js';
import { Fencing } from './fencing.js';
import * as leases from './leases.js';
import * as messages from './messages.js';
import type { DatabaseClaim } from './postgresql/claim.js';
import { postgresConnections } from './postgresql/connections.js';
import { isPostgres } from './provider.js';
import * as revocations from './revocations.js';
import { sqliteConnections } from './sqlite/connections.js';
import * as steps from './steps.js';
import { writeTurns } from './turn-writes.js';
import * as turns from './turns.js';

export interface PrismaStoreOptions {
  /** `file:` and the path of a SQLite file, or a `postgresql:` address, of a database that has been migrated. */
  readonly url: string;
  readonly clock: Clock;
  /** PostgreSQL: connections that this process opens at most. Default: 10. */
  readonly connections?: number;
  /** Called for each transaction that was done, and for each read. */
  readonly onTransaction?: (kind: TransactionKind) => void;
  /** Sees the text of every statement as it is sent. */
  readonly onStatement?: (sql: string) => void;
  /** PostgreSQL: milliseconds that a write waits for rows that others hold. Default: 2 s. */
  readonly lockWaitMs?: number;
  /** PostgreSQL: held where no other server may use the database; the store releases it. */
  readonly claim?: DatabaseClaim;
  /** PostgreSQL: which chats this process may write, where several share the database. Without it: all. */
  readonly fences?: Fences | undefined;
  /** SQLite: NORMAL (the default): a power cut may cost the last commits. FULL: each commit waits for the disk. */
  readonly synchronous?: 'NORMAL' | 'FULL';
}

/** The store on Prisma. It connects with the first call. */
export class PrismaStore implements Store {
  readonly #database: Database;

  constructor(options: PrismaStoreOptions) {
    const { url, clock, onTransaction = () => {}, onStatement } = options;
    const { synchronous = 'NORMAL', connections = 10, lockWaitMs = 2_000, claim, fences } = options;
    this.#database = new Database(
      isPostgres(url)
        ? postgresConnections({ url, clock, connections, lockWaitMs, onStatement })
        : sqliteConnections({ url, clock, synchronous, onStatement }),
      onTransaction,
      { claim, fencing: fences && new Fencing(fences) },
    );
  }

  createChat(chat: Chat) {
    return chats.createChat(this.#database, chat);
  }
  getChat(chatId: string) {
    return chats.getChat(this.#database, chatId);
  }
  isChatIdTaken(chatId: string) {
    return chats.isChatIdTaken(this.#database, chatId);
  }
  updateChat(chatId: string, patch: ChatPatch & { updatedBy?: string }, at: string) {
    return chats.updateChat(this.#database, chatId, patch, at);
  }
  deleteChat(chatId: string, at: string) {
    return chats.deleteChat(this.#database, chatId, at);
  }
  listChats(filter: ChatFilter) {
    return chats.listChats(this.#database, filter);
  }
  countChats(owner: ChatOwner, atMost: number) {
    return chats.countChats(this.#database, owner, atMost);
  }

  nextSequence(chatId: string) {
    return chats.nextSequence(this.#database, chatId);
  }
  saveMessages(chatId: string, list: readonly Message[]) {
    return messages.saveMessages(this.#database, chatId, list);
  }
  getMessages(chatId: string, query: MessageQuery) {
    return messages.getMessages(this.#database, chatId, query);
  }
  getMessage(messageId: string) {
    return messages.getMessage(this.#database, messageId);
  }
  takenMessageIds(messageIds: readonly string[]) {
    return messages.takenMessageIds(this.#database, messageIds);
  }
  updateMessage(messageId: string, patch: MessagePatch, at: string) {
    return messages.updateMessage(this.#database, messageId, patch, at);
  }
  deleteMessages(chatId: string, messageIds: readonly string[], at: string) {
    return messages.deleteMessages(this.#database, chatId, messageIds, at);
  }

  getTurn(requestId: string) {
    return turns.getTurn(this.#database, requestId);
  }
  getTurns(requestIds: readonly string[]) {
    return turns.getTurns(this.#database, requestIds);
  }
  listTurns(chatId: string, query: TurnQuery) {
    return turns.listTurns(this.#database, chatId, query);
  }
  queuedTurns(chatId?: string) {
    return turns.queuedTurns(this.#database, chatId);
  }
  chatOfRequest(requestId: string) {
    return turns.chatOfRequest(this.#database, requestId);
  }

  saveSteps(list: readonly StepRecord[]) {
    return steps.saveSteps(this.#database, list);
  }
  updateStep(stepId: string, patch: StepPatch, at: string) {
    return steps.updateStep(this.#database, stepId, patch, at);
  }
  getStep(stepId: string) {
    return steps.getStep(this.#database, stepId);
  }
  getSteps(requestId: string) {
    return steps.getSteps(this.#database, requestId);
  }
  lastIncompleteStep(chatId: string) {
    return steps.lastIncompleteStep(this.#database, chatId);
  }
  getStepsByStack(stackId: string) {
    return steps.getStepsByStack(this.#database, stackId);
  }
  chatsOfStack(stackId: string) {
    return steps.chatsOfStack(this.#database, stackId);
  }
  getStackPath(chatId: string, stackId: string) {
    return steps.getStackPath(this.#database, chatId, stackId);
  }

  write(batch: readonly TurnWrite[]) {
    return writeTurns(this.#database, batch);
  }

  takeChat(chatId: string, nodeId: string, at: string) {
    return leases.takeChat(this.#database, chatId, nodeId, at);
  }
  holderOf(chatId: string) {
    return leases.holderOf(this.#database, chatId);
  }
  fencesOf(chatIds: readonly string[]) {
    return leases.fencesOf(this.#database, chatIds);
  }

  saveRevocation(revocation: Revocation) {
    return revocations.saveRevocation(this.#database, revocation);
  }
  listRevocations() {
    return revocations.listRevocations(this.#database);
  }

  async ping() {
    await this.#database.read((client) => client.agentChat.findFirst({ select: { id: true } }));
  }
  close() {
    return this.#database.close();
  }
}
