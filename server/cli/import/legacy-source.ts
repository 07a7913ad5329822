import { fileURLToPath } from 'node:url';
import { UsageError } from '../usage-error.js';
import { openPostgres } from './postgres.js';
import type { Sql, SqlRow } from './sql.js';
import { openSqlite } from './sqlite.js';

/** A conversation of the old tables. */
export interface LegacyChat {
  /** Its row of `agent_chat`; null where rows of `agent_history` name a chat that is not there. */
  readonly row: SqlRow | null;
  /** What its rows call it; null for those that name none. */
  readonly cid: string | null;
  /** Whose it is: the old system's user, or a session of nobody known. */
  readonly sid: string | null;
  /** Whether no other conversation has this `cid`, or this one had it first. */
  readonly isFirst: boolean;
}

const CHATS = 'agent_chat';
const HISTORY = 'agent_history';
const CHATS_AT_ONCE = 200;
export const ROWS_AT_ONCE = 100;

/** The old tables, read page by page; memory does not grow with them. */
export interface LegacySource {
  /** The conversations: those of `agent_chat` in its order, then those that only `agent_history` knows. */
  chats(): AsyncGenerator<LegacyChat>;
  /** At most {@link ROWS_AT_ONCE} of its rows behind `after`, in the order of their ids. */
  rows(chat: LegacyChat, after: string | null): Promise<SqlRow[]>;
  /** How many rows `agent_history` has. */
  countRows(): Promise<number>;
  close(): Promise<void>;
}

/**
 * @param url `file:/path/old.db` or `postgresql://user@host/name`
 * @throws {UsageError} an address of another kind
 * @throws {Error} a database that cannot be read, or that does not hold the old tables
 */
export async function openLegacySource(url: string): Promise<LegacySource> {
  const sql = await openSql(url);
  try {
    return new OldTables(sql, await columnsOf(sql, CHATS), await columnsOf(sql, HISTORY));
  } catch (error) {
    await sql.close();
    throw error;
  }
}

async function openSql(url: string): Promise<Sql> {
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url);
  if (!url.startsWith('file:')) throw new UsageError('--from needs file:/path/old.db or postgresql://user@host/name');
  const path = url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
  try {
    return openSqlite(path);
  } catch (error) {
    throw new Error(`the old database ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws {Error} where it is missing */
async function columnsOf(sql: Sql, table: string): Promise<string[]> {
  const columns = await sql.columns(table).catch((error: unknown) => {
    throw new Error(`the old database cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (columns.length === 0) throw new Error(`the old database has no table ${table}`);
  return columns;
}

const quoted = (column: string): string => `"${column.replaceAll('"', '""')}"`;

/** Older versions of the tables have fewer columns: only those that make a conversation have to be there. */
class OldTables implements LegacySource {
  readonly #chatList: string;
  readonly #rowList: string;
  /** Terms for the owner, of a chat `c` and of a row `h`: where there is no such column, nobody's. */
  readonly #chatOwner: string;
  readonly #rowOwner: string;
  readonly #rowChat: string;

  constructor(
    private readonly sql: Sql,
    chatColumns: readonly string[],
    rowColumns: readonly string[],
  ) {
    const chatOfRow = ['cid', 'chat_id'].find((column) => rowColumns.includes(column));
    mustHave(CHATS, chatColumns, ['id', 'chat_id']);
    mustHave(HISTORY, rowColumns, ['id', 'content', chatOfRow ?? 'cid']);
    this.#chatList = chatColumns.map((column) => sql.selected(quoted(column))).join(', ');
    this.#rowList = rowColumns.map((column) => sql.selected(quoted(column))).join(', ');
    this.#chatOwner = chatColumns.includes('sid') ? 'c.sid' : 'NULL';
    this.#rowOwner = rowColumns.includes('sid') ? 'h.sid' : 'NULL';
    this.#rowChat = `h.${chatOfRow ?? 'cid'}`;
  }

  async *chats(): AsyncGenerator<LegacyChat> {
    yield* this.#known();
    yield* this.#unknown();
  }

  async *#known(): AsyncGenerator<LegacyChat> {
    for (let after: string | null = null; ;) {
      const page: SqlRow[] = await this.sql.all(
        `SELECT ${this.#chatList}, (SELECT MIN(o.id) FROM ${CHATS} o WHERE o.chat_id = c.chat_id) AS legacy_first
         FROM ${CHATS} c ${after === null ? '' : 'WHERE c.id > ?'} ORDER BY c.id LIMIT ${CHATS_AT_ONCE}`,
        after === null ? [] : [after],
      );
      for (const { legacy_first: first, ...row } of page) {
        const isFirst = first === null || first === row['id'];
        yield { row, cid: row['chat_id'] ?? null, sid: row['sid'] ?? null, isFirst };
      }
      if (page.length < CHATS_AT_ONCE) return;
      after = page.at(-1)?.['id'] ?? null;
    }
  }

  async *#unknown(): AsyncGenerator<LegacyChat> {
    const owner = this.#rowOwner;
    const groups = await this.sql.all(
      `SELECT ${this.#rowChat} AS cid, ${owner} AS sid, MIN(h.id) AS first_id
       FROM ${HISTORY} h
       WHERE NOT EXISTS (SELECT 1 FROM ${CHATS} c WHERE c.chat_id = ${this.#rowChat} AND ${this.#sameOwner})
       GROUP BY 1, 2 ORDER BY 3`,
    );
    const taken = new Set<string>();
    for (const { cid = null, sid = null } of groups) {
      const isFirst = cid !== null && !taken.has(cid) && !(await this.#isChat(cid));
      if (cid !== null) taken.add(cid);
      yield { row: null, cid, sid, isFirst };
    }
  }

  /** Those who are nobody's are of whoever has the chat. */
  get #sameOwner(): string {
    const [chat, row] = [this.#chatOwner, this.#rowOwner];
    if (chat === 'NULL' || row === 'NULL') return '1 = 1';
    return `(${chat} = ${row} OR ${chat} IS NULL OR ${row} IS NULL)`;
  }

  async #isChat(cid: string): Promise<boolean> {
    return (await this.sql.all(`SELECT c.id FROM ${CHATS} c WHERE c.chat_id = ? LIMIT 1`, [cid])).length > 0;
  }

  async rows({ row, cid, sid }: LegacyChat, after: string | null): Promise<SqlRow[]> {
    const parameters: string[] = [];
    const is = (term: string, value: string | null): string => {
      if (value === null) return `${term} IS NULL`;
      parameters.push(value);
      return `${term} = ?`;
    };
    const conditions = [is(this.#rowChat, cid)];
    if (this.#rowOwner !== 'NULL') {
      const owner = this.#rowOwner;
      if (row === null) conditions.push(is(owner, sid));
      else if (sid !== null) conditions.push(`(${is(owner, sid)} OR ${owner} IS NULL)`);
    }
    if (after !== null) {
      conditions.push('h.id > ?');
      parameters.push(after);
    }
    return this.sql.all(
      `SELECT ${this.#rowList} FROM ${HISTORY} h WHERE ${conditions.join(' AND ')} ORDER BY h.id LIMIT ${ROWS_AT_ONCE}`,
      parameters,
    );
  }

  async countRows(): Promise<number> {
    return Number((await this.sql.all(`SELECT COUNT(*) AS n FROM ${HISTORY}`))[0]?.['n'] ?? 0);
  }

  close(): Promise<void> {
    return this.sql.close();
  }
}

/** @throws {Error} a table of this name that is another one: the successor of `agent_chat` took its name over, for one */
function mustHave(table: string, columns: readonly string[], needed: readonly string[]): void {
  const missing = needed.filter((column) => !columns.includes(column));
  if (missing.length > 0) throw new Error(`${table} is not the old table: it has no column ${missing.join(', ')}`);
}
