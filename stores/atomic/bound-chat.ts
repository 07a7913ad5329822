import { ChatError, type ChatCommands, type Message, type SavedMessage } from '../../protocol/index.js';
import { deleteMessages } from '../deletion.js';
import { openChat } from '../open-chat.js';
import { allMessages } from '../pages.js';
import { WriteQueue } from '../write-queue.js';
import type { Branch } from './branch.js';
import type { HistoryMessage } from './base-chat-history.js';
import type { SchemaRegistry } from './schema-registry.js';
import { draftOf, readRows, type Row } from './stored-message.js';

export interface BoundChatOptions {
  /** Who acts: `createTurnstream(...).as(...)` or `createChatClient(...)`. */
  readonly chats: ChatCommands;
  /** The chat; it is created where it is not there. */
  readonly chatId: string;
  readonly schemas: Pick<SchemaRegistry, 'read' | 'isInstance'>;
  /** Who speaks where the user does not. Default: `atomic-agents`. */
  readonly assistantId?: string;
  /** Of a chat that is created. */
  readonly title?: string;
  /** Makes ids of turns, messages and branches. Default: UUIDv4. */
  readonly newId?: () => string;
}

/** A message of a working list. */
export interface Entry {
  readonly messageId: string;
  readonly message: HistoryMessage;
}

/** A write that is due, and the messages that it is about. */
interface Write {
  readonly messageIds: readonly string[];
  readonly run: () => Promise<void>;
}

/** Messages, and characters of their content, that are saved at a time: far below what a frame holds. */
const MAX_BATCH = 100;
const MAX_BATCH_LENGTH = 256 * 1024;

/** The chat that a history and its copies are bound to: their writes stand in one queue. */
export class BoundChat {
  readonly schemas: BoundChatOptions['schemas'];
  readonly newId: () => string;
  readonly queue = new WriteQueue<Write>({
    together: () => 1,
    write: async ([write]) => write?.run(),
    // Too large, say: it is in no chat, and holds up nothing.
    refused: ({ messageIds }) => {
      for (const messageId of messageIds) this.gone.add(messageId);
    },
  });
  /** Messages that are not in the chat, or soon not any more, though a list may still hold them. */
  readonly gone = new Set<string>();
  /** Where messages stand, as far as they were read or written. */
  readonly #sequences = new Map<string, number>();
  readonly #chats: ChatCommands;
  readonly #assistantId: string;

  constructor(private readonly options: BoundChatOptions) {
    this.schemas = options.schemas;
    this.newId = options.newId ?? (() => crypto.randomUUID());
    this.#chats = options.chats;
    this.#assistantId = options.assistantId ?? 'atomic-agents';
  }

  /** @throws {ChatError} */
  async create(): Promise<void> {
    const { chatId, title } = this.options;
    const titled = title === undefined ? {} : { title };
    await openChat(this.#chats, { chatId, assistantId: this.#assistantId, ...titled });
  }

  /** Every closed message of the chat. @throws {ChatError} */
  async read(): Promise<Row[]> {
    const rows = readRows(await allMessages(this.#chats, { chatId: this.options.chatId }), this.schemas);
    for (const { messageId, sequence } of rows) {
      this.#sequences.set(messageId, sequence);
      this.gone.delete(messageId);
    }
    return rows;
  }

  /** Where a message stands; 0 while nobody knows, which is until it is written. */
  sequenceOf(messageId: string): number {
    return this.#sequences.get(messageId) ?? 0;
  }

  /** Has the messages written. The branch is asked for when all that was to be written before is. */
  save(entries: readonly Entry[], branchOf: () => Branch): void {
    for (const batch of batchesOf(entries))
      void this.queue.push({
        messageIds: batch.map(({ messageId }) => messageId),
        run: () => this.#save(batch, branchOf()),
      });
  }

  async #save(entries: readonly Entry[], branch: Branch): Promise<void> {
    const { chatId } = this.options;
    const place = { branch, assistantId: this.#assistantId };
    const drafts: SavedMessage[] = entries.map(({ messageId, message }) => draftOf(messageId, message, place));
    const { messages } = await this.#chats
      .call('message:save', { chatId, messages: drafts })
      .catch(async (error: unknown) => {
        if (isAboutMessage(error)) return this.#saveApart(entries, branch);
        if (!isAboutTurn(error)) throw error;
        // Its turns are those of another chat, or run: they keep their names, which is what a history goes by.
        return this.#chats.call('message:save', {
          chatId,
          messages: drafts.map(({ requestId: _requestId, ...draft }) => draft),
        });
      });
    for (const { messageId, sequence } of messages) this.#sequences.set(messageId, sequence);
  }

  /**
   * One of them is there already and has been edited or deleted since: its first answer was lost. Ids are ours alone, so
   * that it is done; the others are saved by themselves.
   */
  async #saveApart(entries: readonly Entry[], branch: Branch): Promise<{ messages: Message[] }> {
    if (entries.length > 1) for (const entry of entries) await this.#save([entry], branch);
    return { messages: [] };
  }

  /** Has the messages deleted. */
  delete(messageIds: readonly string[]): void {
    if (messageIds.length === 0) return;
    for (const messageId of messageIds) this.gone.add(messageId);
    void this.queue.push({ messageIds, run: () => deleteMessages(this.#chats, this.options.chatId, messageIds) });
  }

  /** Gives up what is not written; whoever still has it in a list writes it anew with the next message. */
  async discard(): Promise<void> {
    for (const { messageIds } of await this.queue.discard())
      for (const messageId of messageIds) this.gone.add(messageId);
  }
}

const isAboutMessage = (error: unknown): boolean =>
  error instanceof ChatError && error.code === 'conflict' && 'messageId' in error.details;

function isAboutTurn(error: unknown): boolean {
  if (!(error instanceof ChatError)) return false;
  return error.code === 'idempotency_conflict' || (error.code === 'conflict' && 'requestId' in error.details);
}

function batchesOf(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [];
  let length = Infinity;
  for (const entry of entries) {
    const own = JSON.stringify(entry.message.content.json).length;
    const last = batches.at(-1);
    if (last && last.length < MAX_BATCH && length + own <= MAX_BATCH_LENGTH) {
      last.push(entry);
      length += own;
    } else {
      batches.push([entry]);
      length = own;
    }
  }
  return batches;
}
