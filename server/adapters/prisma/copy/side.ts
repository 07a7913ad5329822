import type { SqlRow, SqlValue } from '../sql.js';

/**
 * All of a store but who holds its chats, which nobody does while a copy is made. Chats come last: a copy that was stopped
 * in the middle shows no chat of which something is missing.
 */
export const TABLES = ['agent_revocation', 'agent_turn', 'agent_step', 'agent_message', 'agent_chat'] as const;
export type Table = (typeof TABLES)[number];

/** What a column holds, however its database calls the type. */
export type Kind = 'integer' | 'flag' | 'text' | 'time' | 'json';

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

/** A value that every database gives alike: a time as milliseconds since 1970, JSON as its text. */
export type Value = string | number | boolean | null;

/** How a driver's values become ours. @throws {Error} with the words that follow the column's name, where one is none of its kind */
export type Readers = Readonly<Record<Kind, (raw: unknown) => Value>>;

export interface Row {
  readonly id: number;
  /** In the order of the columns. */
  readonly values: readonly Value[];
  /** Why this row cannot be copied as it is; null where it can. */
  readonly fault: string | null;
}

/** One of the two databases of a copy, which nobody else uses until it is closed. What is common to both is said by `pages.ts`. */
export interface Side {
  /** What a SELECT finds, with a `?` for each value. */
  select(sql: string, args: readonly SqlValue[]): Promise<SqlRow[]>;
  /** In the order of their names. */
  columns(table: Table): Promise<Column[]>;
  /** A column, in words that keep what `readers` needs. */
  selected(column: Column): string;
  /** How many bytes a text or JSON has that is not null. */
  bytes(column: string): string;
  readonly readers: Readers;
  /**
   * Adds those of the rows that are not there, all or none; there is at least one.
   * @returns how many that were
   */
  add(table: Table, columns: readonly Column[], rows: readonly Row[]): Promise<number>;
  /** What the database has against a row, where that is what `add` threw; null for everything else. */
  objection(error: unknown): string | null;
  /** Rows that are made from now on get ids above all that are there. */
  countOn(table: Table): Promise<void>;
  close(): Promise<void>;
}
