/** A row of an old table: every value as its text, null where there is none. */
export type SqlRow = Readonly<Record<string, string | null>>;

/** An old database, to read from. */
export interface Sql {
  /** The columns of a table; none where there is no such table. */
  columns(table: string): Promise<string[]>;
  /** How a column stands in a list of what is selected, so that its text comes as it was written. */
  selected(column: string): string;
  /** @param query with a `?` for each of the parameters */
  all(query: string, parameters?: readonly string[]): Promise<SqlRow[]>;
  close(): Promise<void>;
}
