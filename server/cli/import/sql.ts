import { textOf } from './column-text.js';

/** A row of an old table: every value as its text, null where there is none. */
export type SqlRow = Readonly<Record<string, string | null>>;

/** A value as the database has it, to be asked for again: as its text it would not be found in a column without a type. */
export type SqlKey = string | number | bigint | Uint8Array | null;
export type SqlKeys = Readonly<Record<string, SqlKey>>;

/** The text of a value, as a row has it. */
export function keyText(key: SqlKey): string | null {
  if (key === null) return null;
  return key instanceof Uint8Array ? textOf(key) : String(key);
}

/** An old database, to read from. Whatever it fails with is an {@link unreadable} one. */
export interface Sql {
  /** The columns of a table; none where there is no such table. */
  columns(table: string): Promise<string[]>;
  /** How a column stands in a list of what is selected, so that its text comes as it was written. */
  selected(column: string): string;
  /** A term for the bytes of a column's text; null where there is none. */
  bytes(column: string): string;
  /** @param query with a `?` for each of the parameters */
  all(query: string, parameters?: readonly SqlKey[]): Promise<SqlRow[]>;
  /** Like {@link all}, with values by which rows are found again. */
  keys(query: string, parameters?: readonly SqlKey[]): Promise<SqlKeys[]>;
  close(): Promise<void>;
}

/** Where a name has several addresses, the error of all of them has a code and no words of its own. */
export function unreadable(error: unknown): Error {
  const { message, code } = error as Error & { code?: string };
  return new Error(`the old database cannot be read: ${message || code || 'no answer'}`, { cause: error });
}
