import type { FoundChat, FoundRow, LegacySource } from './legacy-source.js';
import { loadsOf, unreadOf, type RowSize } from './row-loads.js';
import { keyText, type Sql, type SqlKey, type SqlKeys } from './sql.js';

export const CHATS = 'agent_chat';
export const HISTORY = 'agent_history';
const CHATS_AT_ONCE = 200;
const ROWS_AT_ONCE = 100;

/** The column that names a row's chat. */
export const chatColumnOf = (columns: readonly string[]): string => (columns.includes('cid') ? 'cid' : 'chat_id');

const quoted = (column: string): string => `"${column.replaceAll('"', '""')}"`;

/** Older versions of the tables have fewer columns: only those that make a conversation have to be there. */
export class OldTables implements LegacySource {
  readonly #chatQuery: string;
  readonly #rowList: string;
  /** Terms for the bytes of a row. */
  readonly #chatBytes: string;
  readonly #rowBytes: string;
  /** Terms for the owner, of a chat `c` and of a row `h`: where there is no such column, nobody's. */
  readonly #chatOwner: string;
  readonly #rowOwner: string;
  readonly #rowChat: string;

  constructor(
    private readonly sql: Sql,
    chatColumns: readonly string[],
    rowColumns: readonly string[],
    readonly rowCount: number,
  ) {
    const listOf = (columns: readonly string[]) => columns.map((column) => sql.selected(quoted(column))).join(', ');
    const bytesOf = (columns: readonly string[]) =>
      columns.map((column) => `COALESCE(${sql.bytes(quoted(column))}, 0)`).join(' + ');
    this.#chatQuery = `SELECT ${listOf(chatColumns)} FROM ${CHATS} WHERE id = ?`;
    this.#rowList = listOf(rowColumns);
    this.#chatBytes = bytesOf(chatColumns);
    this.#rowBytes = bytesOf(rowColumns);
    this.#chatOwner = chatColumns.includes('sid') ? 'c.sid' : 'NULL';
    this.#rowOwner = rowColumns.includes('sid') ? 'h.sid' : 'NULL';
    this.#rowChat = `h.${chatColumnOf(rowColumns)}`;
  }

  async *chats(): AsyncGenerator<FoundChat, void> {
    yield* this.#known();
    yield* this.#unknown();
  }

  async *#known(): AsyncGenerator<FoundChat, void> {
    for (let after: SqlKey = null; ;) {
      const page: SqlKeys[] = await this.sql.keys(
        `SELECT c.id AS id, c.chat_id AS cid, ${this.#chatOwner} AS sid, ${this.#chatBytes} AS bytes,
           (SELECT o.id FROM ${CHATS} o WHERE o.chat_id = c.chat_id ORDER BY o.id LIMIT 1) AS first_id
         FROM ${CHATS} c ${after === null ? '' : 'WHERE c.id > ?'} ORDER BY c.id LIMIT ${CHATS_AT_ONCE}`,
        after === null ? [] : [after],
      );
      for (const { id = null, cid = null, sid = null, bytes, first_id: first } of page) {
        const unread = unreadOf(Number(bytes));
        const [row = null] = unread === null ? await this.sql.all(this.#chatQuery, [id]) : [];
        const isFirst = first === null || first === id;
        yield { id: keyText(id), row, unread, cid: keyText(cid), sid: keyText(sid), isFirst, key: { cid, sid } };
      }
      if (page.length < CHATS_AT_ONCE) return;
      after = page.at(-1)?.['id'] ?? null;
    }
  }

  /** Those that only rows name are found at once, and held by their names. */
  async *#unknown(): AsyncGenerator<FoundChat, void> {
    const groups = await this.sql.keys(
      `SELECT DISTINCT ${this.#rowChat} AS cid, ${this.#rowOwner} AS sid FROM ${HISTORY} h
       WHERE NOT EXISTS (SELECT 1 FROM ${CHATS} c WHERE c.chat_id = ${this.#rowChat} AND ${this.#sameOwner})
       ORDER BY 1, 2`,
    );
    const taken = new Set<string>();
    for (const { cid: given = null, sid = null } of groups) {
      const cid = keyText(given);
      const isFirst = cid !== null && !taken.has(cid) && !(await this.#isChat(given));
      if (cid !== null) taken.add(cid);
      yield { id: null, row: null, unread: null, cid, sid: keyText(sid), isFirst, key: { cid: given, sid } };
    }
  }

  /** Those who are nobody's are of whoever has the chat. */
  get #sameOwner(): string {
    const [chat, row] = [this.#chatOwner, this.#rowOwner];
    if (chat === 'NULL' || row === 'NULL') return '1 = 1';
    return `(${chat} = ${row} OR ${chat} IS NULL OR ${row} IS NULL)`;
  }

  async #isChat(cid: SqlKey): Promise<boolean> {
    return (await this.sql.keys(`SELECT c.id FROM ${CHATS} c WHERE c.chat_id = ? LIMIT 1`, [cid])).length > 0;
  }

  async *rows(chat: FoundChat): AsyncGenerator<readonly FoundRow[], void> {
    const { condition, parameters } = this.#rowsOf(chat);
    for (let after: SqlKey = null; ;) {
      const page: SqlKeys[] = await this.sql.keys(
        `SELECT h.id AS id, ${this.#rowBytes} AS bytes FROM ${HISTORY} h
         WHERE ${condition} ${after === null ? '' : 'AND h.id > ?'} ORDER BY h.id LIMIT ${ROWS_AT_ONCE}`,
        after === null ? parameters : [...parameters, after],
      );
      const sizes = page.map(({ id = null, bytes }) => ({ id, bytes: Number(bytes) }));
      for (const load of loadsOf(sizes)) yield await this.#read(load, condition, parameters);
      if (page.length < ROWS_AT_ONCE) return;
      after = page.at(-1)?.['id'] ?? null;
    }
  }

  #rowsOf({ row, unread, key }: FoundChat): { condition: string; parameters: readonly SqlKey[] } {
    const parameters: SqlKey[] = [];
    const is = (term: string, value: SqlKey): string => {
      if (value === null) return `${term} IS NULL`;
      parameters.push(value);
      return `${term} = ?`;
    };
    const conditions = [is(this.#rowChat, key.cid)];
    if (this.#rowOwner !== 'NULL') {
      const owner = this.#rowOwner;
      if (row === null && unread === null) conditions.push(is(owner, key.sid));
      else if (key.sid !== null) conditions.push(`(${is(owner, key.sid)} OR ${owner} IS NULL)`);
    }
    return { condition: conditions.join(' AND '), parameters };
  }

  async #read(load: readonly RowSize[], condition: string, parameters: readonly SqlKey[]): Promise<FoundRow[]> {
    const [first, last] = [load[0], load.at(-1)];
    if (first === undefined || last === undefined) return [];
    const unread = unreadOf(first.bytes);
    if (unread !== null) return [{ id: keyText(first.id), row: null, unread }];
    const rows = await this.sql.all(
      `SELECT ${this.#rowList} FROM ${HISTORY} h WHERE ${condition} AND h.id >= ? AND h.id <= ? ORDER BY h.id`,
      [...parameters, first.id, last.id],
    );
    return rows.map((row) => ({ id: row['id'] ?? null, row, unread: null }));
  }

  close(): Promise<void> {
    return this.sql.close();
  }
}
