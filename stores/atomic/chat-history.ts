import { canonicalJson, wellFormed } from '../../protocol/index.js';
import { BaseChatHistory, type HistoryMessage, type WireMessage } from './base-chat-history.js';
import { BoundChat, type BoundChatOptions, type Entry } from './bound-chat.js';
import { newestBranch, rowsOf, type Branch } from './branch.js';
import { dumpOf, maxMessages, readDump } from './dump.js';
import type { SchemaInstance } from './schema-registry.js';
import { ValueError } from './value-error.js';
import { wireContent } from './wire-content.js';

export interface ChatHistoryOptions extends BoundChatOptions {
  /** The newest so many are in the list; the chat keeps the others. Default, and null: all. */
  readonly maxMessages?: number | null;
}

/** The branch that a list is written on. */
interface OwnBranch {
  readonly id: string | null;
  /** Its beginning: known once what stands in it is written. */
  readonly begins: () => Branch['begins'];
  /** The first message that is written on it; null: none as yet. */
  first: string | null;
}

/** What a history is made of; `open` and `copy` make it. */
export interface HistoryParts {
  readonly chat: BoundChat;
  readonly branch: OwnBranch;
  readonly entries: readonly Entry[];
  readonly dropped: readonly Entry[];
  readonly maxMessages: number | null;
  readonly currentTurnId: string | null;
}

/**
 * The history of an Atomic agent, kept in a chat. It is read and changed at once, as the framework asks; every change is
 * written behind it, in order: `flushed()` says when, and what went wrong.
 *
 * - A turn is the chat's turn of that id; a message is a message of the chat, visible at once to whoever follows it.
 * - What exceeds `maxMessages` leaves the list, not the chat. A deleted turn leaves both.
 * - A copy has the same class and chat and a list of its own. What either adds stands in the chat, on a branch of its own,
 *   and not in the other's list. What either deletes is deleted in the chat; the other keeps it in its list, and stores its
 *   list anew with its next message. `open` gives the list that was written to last, so a reset outlives the process.
 */
export class ChatHistory extends BaseChatHistory {
  currentTurnId: string | null;
  readonly #chat: BoundChat;
  #maxMessages: number | null;
  #branch: OwnBranch;
  #entries: Entry[];
  /** What exceeded the bound: in the chat still. */
  #dropped: Entry[];

  constructor(parts: HistoryParts) {
    super();
    this.#chat = parts.chat;
    this.#branch = parts.branch;
    this.#entries = [...parts.entries];
    this.#dropped = [...parts.dropped];
    this.#maxMessages = parts.maxMessages;
    this.currentTurnId = parts.currentTurnId;
  }

  /**
   * The history that a chat holds. The chat is created where it is not there.
   *
   * @throws {ValueError} a bound that is none
   * @throws {ChatError} a chat that one may not read, or that cannot be read now
   */
  static async open<H extends ChatHistory>(
    this: new (parts: HistoryParts) => H,
    { maxMessages: max = null, ...options }: ChatHistoryOptions,
  ): Promise<H> {
    if (!maxMessages.safeParse(max).success) throw new ValueError('max_messages: expected a whole number or null.');
    const chat = new BoundChat(options);
    await chat.create();
    const rows = await chat.read();
    const { id, begins } = newestBranch(rows);
    const first = rows.find(({ branch }) => branch?.id === id)?.messageId ?? null;
    const parts = { chat, branch: { id, begins: () => begins, first }, maxMessages: max };
    const history = new this({ ...parts, entries: [], dropped: [], currentTurnId: null });
    history.#take(rowsOf(rows, { id, begins }));
    history.currentTurnId = history.#entries.at(-1)?.message.turnId ?? null;
    return history;
  }

  get history(): readonly HistoryMessage[] {
    return this.#entries.map(({ message }) => message);
  }

  /** How many the list may hold; null: as many as come. */
  get maxMessages(): number | null {
    return this.#maxMessages;
  }

  initializeTurn(): void {
    this.currentTurnId = this.#chat.newId();
  }

  addMessage(role: string, content: SchemaInstance): void {
    if (typeof role !== 'string') throw new ValueError('role: expected text.');
    if (!this.#chat.schemas.isInstance(content))
      throw new ValueError('content: expected an instance of a registered schema.');
    if (this.currentTurnId === null) this.initializeTurn();
    const { currentTurnId: turnId } = this;
    this.#keepWhatIsGone();
    this.#append([
      Object.freeze({ role: wellFormed(role), content, turnId: turnId === null ? null : wellFormed(turnId) }),
    ]);
    this.#trim();
  }

  getHistory(): WireMessage[] {
    return this.#entries.map(({ message: { role, content } }) => ({ role, content: wireContent(content.data) }));
  }

  getCurrentTurnId(): string | null {
    return this.currentTurnId;
  }

  getMessageCount(): number {
    return this.#entries.length;
  }

  deleteTurnId(turnId: string): void {
    const isOfTurn = ({ message }: Entry): boolean => message.turnId === turnId;
    const gone = this.#entries.filter(isOfTurn);
    if (gone.length === 0) throw new ValueError(`Turn ID ${turnId} not found in history.`);
    this.#chat.delete([...this.#dropped.filter(isOfTurn), ...gone].map(({ messageId }) => messageId));
    this.#dropped = this.#dropped.filter((entry) => !isOfTurn(entry));
    this.#entries = this.#entries.filter((entry) => !isOfTurn(entry));
    const last = this.#entries.at(-1);
    if (!last) this.currentTurnId = null;
    else if (turnId === this.currentTurnId) this.currentTurnId = last.message.turnId;
  }

  dump(): string {
    const { history: messages, maxMessages: max, currentTurnId } = this;
    return dumpOf({ messages, maxMessages: max, currentTurnId });
  }

  /** As the contract says. The messages of the list before are deleted in the chat; a dump of this very list changes none. */
  load(serialized: string): void {
    const state = readDump(serialized, this.#chat.schemas);
    if (!isSame(state.messages, this.history)) {
      const before = [...this.#dropped, ...this.#entries].map(({ messageId }) => messageId);
      this.#begin(state.messages);
      this.#chat.delete(before);
    }
    this.#maxMessages = state.maxMessages;
    this.currentTurnId = state.currentTurnId;
  }

  copy(): this {
    // A class that is made otherwise overrides `copy`, as in the framework.
    const Class = this.constructor as new (parts: HistoryParts) => this;
    return new Class({
      chat: this.#chat,
      branch: { id: this.#chat.newId(), begins: this.#beginsOfCopy(), first: null },
      entries: this.#entries,
      dropped: this.#dropped,
      maxMessages: this.#maxMessages,
      currentTurnId: this.currentTurnId,
    });
  }

  /**
   * Settles when every change is in the chat.
   *
   * @throws {ChatError} what stopped the writing: calling again tries again; or what the server will never take, once: the
   *   changes behind it are written all the same
   */
  async flushed(): Promise<void> {
    do await this.#chat.queue.flushed();
    while (this.unwritten > 0);
  }

  /** Changes that are not written, those of copies too. */
  get unwritten(): number {
    return this.#chat.queue.length;
  }

  /** Writes what is left, then brings into the list what others have written meanwhile. @throws {ChatError} */
  async ready(): Promise<void> {
    for (;;) {
      await this.flushed();
      const rows = await this.#chat.read();
      // A change that was made meanwhile is not among the rows, or not whole.
      if (this.unwritten > 0) continue;
      const { id, begins } = this.#branch;
      this.#take(rowsOf(rows, { id, begins: begins() }));
      return;
    }
  }

  /** Gives up what cannot be written, and goes on with what the chat holds. @throws {ChatError} */
  async discardUnwritten(): Promise<void> {
    await this.#chat.discard();
    await this.ready();
  }

  #take(rows: readonly Entry[]): void {
    this.#entries = [...rows];
    this.#dropped = [];
    this.#trim();
  }

  #append(messages: readonly HistoryMessage[]): void {
    const entries = messages.map((message) => ({ messageId: this.#chat.newId(), message }));
    this.#entries.push(...entries);
    const branch = this.#branch;
    branch.first ??= entries[0]?.messageId ?? null;
    this.#chat.save(entries, () => ({ id: branch.id, begins: branch.begins() }));
  }

  #trim(): void {
    const max = this.#maxMessages;
    if (max !== null && this.#entries.length > max)
      this.#dropped.push(...this.#entries.splice(0, this.#entries.length - max));
  }

  /** Goes on with these, on a branch that shares nothing with what was before. */
  #begin(messages: readonly HistoryMessage[]): void {
    this.#branch = { id: this.#chat.newId(), begins: () => [], first: null };
    this.#entries = [];
    this.#dropped = [];
    this.#append(messages);
  }

  /** What another list has deleted, and this one has still, is stored again before anything is added to it. */
  #keepWhatIsGone(): void {
    const { gone } = this.#chat;
    if (gone.size > 0 && this.#entries.some(({ messageId }) => gone.has(messageId))) this.#begin(this.history);
  }

  #beginsOfCopy(): OwnBranch['begins'] {
    const { id, begins, first } = this.#branch;
    const last = (this.#entries.at(-1) ?? this.#dropped.at(-1))?.messageId;
    const chat = this.#chat;
    if (last === undefined) return () => [];
    if (id !== null && first === null) return begins;
    return () => [
      ...begins(),
      { branch: id, above: id === null ? 0 : chat.sequenceOf(first ?? '') - 1, upTo: chat.sequenceOf(last) },
    ];
  }
}

const isSame = (some: readonly HistoryMessage[], others: readonly HistoryMessage[]): boolean =>
  some.length === others.length &&
  some.every(({ role, content, turnId }, index) => {
    const other = others[index];
    return (
      other?.role === role &&
      other.turnId === turnId &&
      other.content.schemaName === content.schemaName &&
      canonicalJson(other.content.json) === canonicalJson(content.json)
    );
  });
