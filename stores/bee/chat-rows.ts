import { ChatError, utf8Bytes, type ChatCommands, type JsonObject } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { deleteMessages } from '../deletion.js';
import { allMessages } from '../pages.js';
import type { BeeMessage } from './framework.js';
import { positionBetween, positionOf } from './position.js';
import { draftOf, inOrder, isUnchanged, storedRow, type Messages, type Row } from './row.js';

/** The chat that holds a memory. */
export interface MemoryChat {
  readonly chatId: string;
  /** Who its answers are by. */
  readonly assistantId: string;
  readonly title: string | null;
  readonly metadata: JsonObject;
}

/** At a time; the server takes 1000, a frame over the network one MiB. */
const MAX_ROWS = 200;
const MAX_BYTES = 256 * 1024;

/** Reads and writes the rows of one memory's chat, which is made with the first message. */
export class ChatRows<M extends BeeMessage> {
  #exists = false;
  /** The highest sequence that was seen. */
  #highest = 0;

  constructor(
    private readonly chats: ChatCommands,
    private readonly messages: Messages<M>,
    private readonly chat: () => Promise<MemoryChat>,
  ) {}

  /** The chat's closed messages in the order of the memory; those that say what they said are the same rows. */
  async read(known: readonly Row<M>[]): Promise<Row<M>[]> {
    const { chatId } = await this.chat();
    const found = await orIfAbsent(allMessages(this.chats, { chatId }), null);
    this.#exists = found !== null;
    const byId = new Map(known.map((row) => [row.messageId, row]));
    const rows = (found ?? []).flatMap((stored) => {
      this.#highest = Math.max(this.#highest, stored.sequence);
      if (stored.state !== 'closed') return [];
      const row = byId.get(stored.messageId);
      return row?.stored && isUnchanged(row.stored, stored) ? row : (storedRow(this.messages, stored) ?? []);
    });
    return inOrder(rows);
  }

  /** Saves the rows that are not stored yet, in this order. Asked again after a failure it goes on where it failed. */
  async save(rows: readonly Row<M>[]): Promise<void> {
    const { chatId, assistantId } = await this.#existing();
    for (
      let rest = rows.filter(({ stored }) => !stored);
      rest.length > 0;
      rest = rest.filter(({ stored }) => !stored)
    ) {
      const drafts = this.#nextDrafts(rest, assistantId);
      const { messages } = await this.chats.call('message:save', {
        chatId,
        messages: drafts.map(({ draft }) => draft),
      });
      for (const [index, { row, position }] of drafts.entries()) {
        row.stored = messages[index] ?? null;
        const sequence = row.stored?.sequence ?? 0;
        this.#highest = Math.max(this.#highest, sequence);
        row.position = position ?? positionOf(sequence);
        row.before = row.after = null;
      }
    }
  }

  /** Writes a row's message anew, in its place; one that somebody has deleted comes again under `newId`. */
  async update(row: Row<M>, message: M, newId: string): Promise<void> {
    const { assistantId } = await this.#existing();
    const draft = draftOf({ ...row, message }, null, assistantId);
    try {
      const { messageId, props, metadata } = draft;
      row.stored = (
        await this.chats.call('message:update', { messageId: messageId ?? '', props, metadata, type: draft.type })
      ).message;
    } catch (error) {
      if (!(error instanceof ChatError) || error.code !== 'not_found') throw error;
      row.messageId = newId;
      row.stored = null;
      await this.save([row]);
    }
  }

  async delete(rows: readonly Row<M>[]): Promise<void> {
    const { chatId } = await this.chat();
    const ids = rows.flatMap(({ stored, messageId }) => (stored ? [messageId] : []));
    await deleteMessages(this.chats, chatId, ids);
  }

  async #existing(): Promise<MemoryChat> {
    const chat = await this.chat();
    if (!this.#exists) await this.chats.call('chat:create', { ...chat });
    this.#exists = true;
    return chat;
  }

  /** As many of the first rows as fit, whose neighbours have their places: at least one. */
  #nextDrafts(rows: readonly Row<M>[], assistantId: string) {
    const drafts: { row: Row<M>; position: string | null; draft: ReturnType<typeof draftOf<M>> }[] = [];
    const planned = new Map<Row<M>, string>();
    let size = 0;
    for (const row of rows.slice(0, MAX_ROWS)) {
      const position = this.#positionFor(row, planned);
      if (position === undefined && drafts.length > 0) break;
      const draft = draftOf(row, position ?? null, assistantId);
      size += utf8Bytes(JSON.stringify(draft));
      if (size > MAX_BYTES && drafts.length > 0) break;
      if (position) planned.set(row, position);
      drafts.push({ row, position: position ?? null, draft });
    }
    return drafts;
  }

  /** Null for the end, undefined while a neighbour has no place yet. */
  #positionFor(row: Row<M>, planned: ReadonlyMap<Row<M>, string>): string | null | undefined {
    const after = taken(row, 'after');
    if (!after) return null;
    const before = taken(row, 'before');
    const low = before ? (before.position ?? planned.get(before)) : '';
    const next = after.position ?? planned.get(after);
    if (low === undefined || next === undefined) return undefined;
    // Two that stand at the same place, or somebody else's positions: behind both, and before what comes next.
    const high = next > low ? next : positionOf(this.#highest + 1);
    return high > low ? positionBetween(low, high, row.messageId) : null;
  }
}

/** The nearest neighbour on this side that the server has taken or will take. */
function taken<M extends BeeMessage>(row: Row<M>, side: 'before' | 'after'): Row<M> | null {
  let neighbour = row[side];
  while (neighbour?.isRefused) neighbour = neighbour[side];
  return neighbour;
}
