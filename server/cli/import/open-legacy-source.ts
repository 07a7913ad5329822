import { fileURLToPath } from 'node:url';
import { UsageError } from '../usage-error.js';
import type { LegacySource } from './legacy-source.js';
import { chatColumnOf, CHATS, HISTORY, OldTables } from './old-tables.js';
import { openPostgres } from './postgres.js';
import type { Sql } from './sql.js';
import { openSqlite } from './sqlite.js';

/**
 * @param url `file:/path/old.db` or `postgresql://user@host/name`
 * @throws {UsageError} an address of another kind
 * @throws {Error} a database that cannot be read, or that does not hold the old tables
 */
export async function openLegacySource(url: string): Promise<LegacySource> {
  const sql = await openSql(url);
  try {
    return await openOldTables(sql);
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

/**
 * The tables as they are, with the columns that this version of them has.
 *
 * @throws {Error} they are not there, are others of the same names, or have rows that nothing tells apart
 */
async function openOldTables(sql: Sql): Promise<LegacySource> {
  const chats = await columnsOf(sql, CHATS);
  const history = await columnsOf(sql, HISTORY);
  mustHave(CHATS, chats, ['id', 'chat_id']);
  mustHave(HISTORY, history, ['id', 'content', chatColumnOf(history)]);
  await countOf(sql, CHATS);
  return new OldTables(sql, chats, history, await countOf(sql, HISTORY));
}

/** @throws {Error} where it is missing */
async function columnsOf(sql: Sql, table: string): Promise<string[]> {
  const columns = await sql.columns(table);
  if (columns.length === 0) throw new Error(`the old database has no table ${table}`);
  return columns;
}

/** @throws {Error} a table of this name that is another one: the successor of `agent_chat` took its name over, for one */
function mustHave(table: string, columns: readonly string[], needed: readonly string[]): void {
  const missing = needed.filter((column) => !columns.includes(column));
  if (missing.length > 0) throw new Error(`${table} is not the old table: it has no column ${missing.join(', ')}`);
}

/** @throws {Error} rows without an id of their own: a second run could not know them again, and a page not pass them */
async function countOf(sql: Sql, table: string): Promise<number> {
  const [counts] = await sql.all(`SELECT COUNT(*) AS total, COUNT(DISTINCT id) AS named FROM ${table}`);
  const total = Number(counts?.['total']);
  const others = total - Number(counts?.['named']);
  if (others > 0) throw new Error(`${others} of the ${total} rows of ${table} have no id of their own: give them one`);
  return total;
}
