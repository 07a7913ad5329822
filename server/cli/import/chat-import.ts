import { ChatError, isJsonObject, type Chat, type ChatCommands, type Message } from '../../../protocol/index.js';
import { chatOf } from './chat-row.js';
import { ROWS_AT_ONCE, type LegacyChat, type LegacySource } from './legacy-source.js';
import { messagesOf, type MessageRow } from './message-row.js';
import { oversize, pagesOf, piecesOf, type Page } from './page.js';
import { mayPass, patiently } from './patience.js';
import type { Outcome, Report } from './report.js';
import type { SqlRow } from './sql.js';

export interface ImportTarget {
  readonly chats: ChatCommands;
  /** The largest command that the server takes, bytes of JSON. */
  readonly maxFrameBytes: () => number;
  /** The assistant of chats that had none. */
  readonly assistantId: string;
  /** Milliseconds since 1970: what has expired by then is told. */
  readonly now: number;
}

/**
 * Brings one conversation over, in order, page by page. Everything has an id made from what it was, so that a run after
 * one that was cut off goes on where that ended, and one more adds nothing.
 *
 * @throws {ChatError} the server is away or busy for too long: run it again
 */
export class ChatImport {
  /** Where the chat was up to before this run: what stands behind it is new. */
  #base = 0;

  constructor(
    private readonly source: LegacySource,
    private readonly target: ImportTarget,
    private readonly report: Report,
    private readonly legacy: LegacyChat,
  ) {}

  async run(): Promise<void> {
    let page = await this.source.rows(this.legacy, null);
    const chatId = await this.#create(page);
    while (page.length > 0) {
      if (chatId === null) this.#refuseAll(page);
      else await this.#save(chatId, page);
      const after = page.at(-1)?.['id'] ?? null;
      if (page.length < ROWS_AT_ONCE || after === null) return;
      page = await this.source.rows(this.legacy, after);
    }
  }

  /** @returns its id, null where it was refused */
  async #create(first: readonly SqlRow[]): Promise<string | null> {
    const { row, cid } = this.legacy;
    const { draft, changes } = chatOf(this.legacy, first, this.target.assistantId);
    const entry = { table: 'agent_chat', id: row?.['id'] ?? null, cid } as const;
    try {
      const { chat, created } = await patiently(() => this.target.chats.call('chat:create', draft));
      if (!created) this.#base = await this.#newest(chat.chatId);
      const reasons = [
        ...changes,
        ...(created || isImported(chat) ? [] : ['the chat was here, and of no import: added behind what it has']),
      ];
      this.report.add({ ...entry, chatId: chat.chatId, outcome: reasons.length > 0 ? 'changed' : 'kept', reasons });
      return chat.chatId;
    } catch (error) {
      this.report.add({ ...entry, chatId: null, outcome: 'refused', reasons: [refusalOf(error)] });
      return null;
    }
  }

  async #newest(chatId: string): Promise<number> {
    const { messages } = await patiently(() => this.target.chats.call('message:list', { chatId, limit: 1 }));
    return messages.at(-1)?.sequence ?? 0;
  }

  #refuseAll(page: readonly SqlRow[]): void {
    for (const { id = null } of page) this.#tell(null, id, 'refused', ['its chat was refused']);
  }

  async #save(chatId: string, page: readonly SqlRow[]): Promise<void> {
    const max = this.target.maxFrameBytes();
    let fitting: MessageRow[] = [];
    // Told in the order of the rows, so those before one that is too large go first.
    for (const given of page) {
      const row = messagesOf(chatId, given, this.target.now);
      const reason = oversize(row, max);
      if (reason === null) fitting.push(row);
      else {
        await this.#savePages(chatId, fitting);
        fitting = [];
        this.#tell(null, row.rowId, 'refused', [reason]);
      }
    }
    await this.#savePages(chatId, fitting);
  }

  async #savePages(chatId: string, rows: readonly MessageRow[]): Promise<void> {
    for (const page of pagesOf(rows, this.target.maxFrameBytes())) await this.#savePage(chatId, page);
  }

  /** A page is stored whole or not at all: where something in it is refused, its rows are tried one by one. */
  async #savePage(chatId: string, page: Page): Promise<void> {
    try {
      await this.#store(chatId, page);
      for (const { rowId, changes } of page.rows)
        this.#tell(chatId, rowId, changes.length > 0 ? 'changed' : 'kept', changes);
    } catch (error) {
      const reason = refusalOf(error);
      const [first, ...others] = page.rows;
      if (first === undefined) return;
      if (others.length === 0) return this.#settle(chatId, first, error, reason);
      for (const row of page.rows) await this.#savePage(chatId, { rows: [row], messages: row.messages });
    }
  }

  async #store(chatId: string, page: Page): Promise<void> {
    for (const messages of piecesOf(page, this.target.maxFrameBytes())) {
      const saved = await patiently(() => this.target.chats.call('message:save', { chatId, messages }));
      const added = saved.messages.filter(({ sequence }) => sequence > this.#base).length;
      this.report.saved(added, messages.length - added);
    }
  }

  /** A row that is here already and was edited since is no loss; any other refusal is one. */
  async #settle(chatId: string, row: MessageRow, error: unknown, reason: string): Promise<void> {
    const isTaken = error instanceof ChatError && error.code === 'conflict';
    const ids = new Set(row.messages.map(({ messageId }) => messageId));
    // A row of one message that was refused for another reason is not here.
    const found = isTaken || ids.size > 1 ? await this.#found(chatId, ids) : 0;
    if (isTaken && found === ids.size) {
      this.report.saved(0, found);
      const left = 'imported before and edited here since: left as it is';
      this.#tell(chatId, row.rowId, 'changed', [...row.changes, left]);
    } else {
      const why = isTaken ? 'imported before and deleted here since, or its id is another chat’s' : reason;
      const partly = found === 0 ? [] : [`${found} of its ${ids.size} messages are here`];
      this.#tell(null, row.rowId, 'refused', [why, ...partly]);
    }
  }

  /** How many of the ids the chat has. */
  async #found(chatId: string, ids: ReadonlySet<string>): Promise<number> {
    let found = 0;
    for (let after = 0; ;) {
      const page: { messages: Message[]; hasMore: boolean } = await patiently(() =>
        this.target.chats.call('message:list', { chatId, after, limit: 200 }),
      );
      found += page.messages.filter(({ messageId }) => ids.has(messageId)).length;
      const last = page.messages.at(-1);
      if (!last || !page.hasMore || found === ids.size) return found;
      after = last.sequence;
    }
  }

  #tell(chatId: string | null, id: string | null, outcome: Outcome, reasons: readonly string[]): void {
    this.report.add({ table: 'agent_history', id, cid: this.legacy.cid, chatId, outcome, reasons });
  }
}

const isImported = ({ metadata }: Chat): boolean => isJsonObject(metadata?.['yao']);

/** Why the server refused. @throws whatever is no refusal: then there is no use in going on */
function refusalOf(error: unknown): string {
  if (!(error instanceof ChatError) || mayPass(error) || error.details['reason'] !== undefined) throw error;
  return `${error.message} (${error.code})`;
}
