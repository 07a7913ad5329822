import { ChatError, isJsonObject, type Chat, type ChatCommands } from '../../../protocol/index.js';
import { pagesBehind } from '../../../stores/pages.js';
import { chatOf } from './chat-row.js';
import type { FoundChat, FoundRow, LegacySource } from './legacy-source.js';
import { messagesOf } from './message-row.js';
import { commandsOf, oversize, pagesOf, weighed, type WeighedRow } from './page.js';
import { mayPass } from './patience.js';
import type { Outcome, Report } from './report.js';

export interface ImportTarget {
  /** Commands that wait for a server that is busy. */
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
  /** The ids of what the chat has, once they were needed. */
  #present: Set<string> | null = null;

  constructor(
    private readonly source: LegacySource,
    private readonly target: ImportTarget,
    private readonly report: Report,
    private readonly legacy: FoundChat,
  ) {}

  async run(): Promise<void> {
    const loads = this.source.rows(this.legacy);
    const first = (await loads.next()).value ?? [];
    const chatId = await this.#create(first);
    const bring = (load: readonly FoundRow[]) => (chatId === null ? this.#refuse(load) : this.#save(chatId, load));
    await bring(first);
    for await (const load of loads) await bring(load);
  }

  /** @returns its id, null where it was refused */
  async #create(first: readonly FoundRow[]): Promise<string | null> {
    const { id, cid, unread } = this.legacy;
    const entry = { table: 'agent_chat', id, cid } as const;
    const refused = (reason: string): null => {
      this.report.add({ ...entry, chatId: null, outcome: 'refused', reasons: [reason] });
      return null;
    };
    if (unread !== null) return refused(unread);
    const rows = first.flatMap(({ row }) => (row === null ? [] : [row]));
    const { draft, changes } = await chatOf(this.legacy, rows, this.target.assistantId);
    try {
      const { chat, created } = await this.target.chats.call('chat:create', draft);
      if (!created) this.#base = await this.#newest(chat.chatId);
      const reasons = [
        ...changes,
        ...(created || isImported(chat) ? [] : ['the chat was here, and of no import: added behind what it has']),
      ];
      this.report.add({ ...entry, chatId: chat.chatId, outcome: reasons.length > 0 ? 'changed' : 'kept', reasons });
      return chat.chatId;
    } catch (error) {
      return refused(refusalOf(error));
    }
  }

  async #newest(chatId: string): Promise<number> {
    const { messages } = await this.target.chats.call('message:list', { chatId, limit: 1 });
    return messages.at(-1)?.sequence ?? 0;
  }

  #refuse(load: readonly FoundRow[]): void {
    for (const { id } of load) this.#tell(null, id, 'refused', ['its chat was refused']);
  }

  async #save(chatId: string, load: readonly FoundRow[]): Promise<void> {
    const max = this.target.maxFrameBytes();
    let fitting: WeighedRow[] = [];
    // Told in the order of the rows, so those before one that is refused go first.
    const refuse = async (id: string | null, reason: string): Promise<void> => {
      await this.#savePages(chatId, fitting);
      fitting = [];
      this.#tell(null, id, 'refused', [reason]);
    };
    for (const found of load) {
      if (found.row === null) {
        await refuse(found.id, found.unread);
        continue;
      }
      const row = weighed(await messagesOf(chatId, found.row, this.target.now));
      const reason = oversize(row, max);
      if (reason === null) fitting.push(row);
      else await refuse(row.rowId, reason);
    }
    await this.#savePages(chatId, fitting);
  }

  async #savePages(chatId: string, rows: readonly WeighedRow[]): Promise<void> {
    for (const page of pagesOf(rows, this.target.maxFrameBytes())) await this.#savePage(chatId, page);
  }

  /** A page is stored whole or not at all: where something in it is refused, its rows are tried one by one. */
  async #savePage(chatId: string, page: readonly WeighedRow[]): Promise<void> {
    try {
      await this.#store(chatId, page);
      for (const { rowId, changes } of page)
        this.#tell(chatId, rowId, changes.length > 0 ? 'changed' : 'kept', changes);
    } catch (error) {
      const reason = refusalOf(error);
      const [first, ...others] = page;
      if (first === undefined) return;
      if (others.length === 0) return this.#settle(chatId, first, error, reason);
      for (const row of page) await this.#savePage(chatId, [row]);
    }
  }

  async #store(chatId: string, page: readonly WeighedRow[]): Promise<void> {
    for (const command of commandsOf(page, this.target.maxFrameBytes())) {
      const messages = command.map(({ message }) => message);
      const saved = await this.target.chats.call('message:save', { chatId, messages });
      const added = saved.messages.filter(({ sequence }) => sequence > this.#base).length;
      this.report.saved(added, messages.length - added);
      for (const { messageId } of saved.messages) this.#present?.add(messageId);
    }
  }

  /** A row that is here already and was edited since is no loss; any other refusal is one. */
  async #settle(chatId: string, row: WeighedRow, error: unknown, reason: string): Promise<void> {
    const isTaken = error instanceof ChatError && error.code === 'conflict';
    const ids = new Set(row.messages.map(({ message }) => message.messageId));
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

  /** How many of the ids the chat has. It is read once, however many rows are asked for. */
  async #found(chatId: string, ids: ReadonlySet<string>): Promise<number> {
    if (this.#present === null) {
      const present = new Set<string>();
      for await (const { messages } of pagesBehind(this.target.chats, { chatId }, 0))
        for (const { messageId } of messages) present.add(messageId);
      this.#present = present;
    }
    const present = this.#present;
    return [...ids].filter((id) => present.has(id)).length;
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
