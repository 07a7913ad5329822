import BetterSqlite3 from 'better-sqlite3';
import { keyText, unreadable, type Sql, type SqlKey, type SqlKeys, type SqlRow } from './sql.js';

/**
 * An SQLite database, for reading only. Nothing is held between two questions, so that who writes to it can go on.
 *
 * @throws {Error} no such file, or one that is no database
 */
export function openSqlite(path: string): Sql {
  const database = new BetterSqlite3(path, { readonly: true, fileMustExist: true });
  // A number beyond 2^53 keeps all its digits.
  database.defaultSafeIntegers(true);
  const query = <Row>(text: string, parameters: readonly SqlKey[]): Row[] => {
    try {
      return database.prepare<unknown[], Row>(text).all(...parameters);
    } catch (error) {
      throw unreadable(error);
    }
  };
  return {
    columns: async (table) =>
      query<{ name: string }>('SELECT name FROM pragma_table_info(?)', [table]).map(({ name }) => name),
    // The driver replaces what is no UTF-8 in silence; from the bytes it can be told.
    selected: (column) =>
      `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END AS ${column}`,
    bytes: (column) => `octet_length(${column})`,
    all: async (text, parameters = []) => query<SqlKeys>(text, parameters).map(textsOf),
    keys: async (text, parameters = []) => query(text, parameters),
    close: async () => void database.close(),
  };
}

const textsOf = (row: SqlKeys): SqlRow =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, keyText(value)]));
