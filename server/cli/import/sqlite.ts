import BetterSqlite3 from 'better-sqlite3';
import type { Sql, SqlRow } from './sql.js';

/** Marks, in the text of a value, bytes that were no UTF-8: they have become U+FFFD. Nothing well-formed holds it. */
export const BROKEN_BYTES = '\uD800';

/**
 * An SQLite database, for reading only.
 *
 * @throws {Error} no such file, or one that is no database
 */
export function openSqlite(path: string): Sql {
  const database = new BetterSqlite3(path, { readonly: true, fileMustExist: true });
  // A number beyond 2^53 keeps all its digits.
  database.defaultSafeIntegers(true);
  return {
    columns: async (table) =>
      (database.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[]).map(
        ({ name }) => name,
      ),
    // The driver replaces what is no UTF-8 in silence; from the bytes it can be told.
    selected: (column) =>
      `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END AS ${column}`,
    all: async (query, parameters = []) =>
      (database.prepare(query).all(...parameters) as Record<string, SqliteValue>[]).map(textsOf),
    close: async () => void database.close(),
  };
}

/** What the driver gives. */
type SqliteValue = string | number | bigint | Uint8Array | null;

const textsOf = (row: Record<string, SqliteValue>): SqlRow =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, textOf(value)]));

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

function textOf(value: SqliteValue): string | null {
  if (value === null) return null;
  if (!(value instanceof Uint8Array)) return String(value);
  try {
    return strict.decode(value);
  } catch {
    return lenient.decode(value) + BROKEN_BYTES;
  }
}
