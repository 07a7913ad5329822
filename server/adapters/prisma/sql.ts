/** A value that a statement takes for a `?`. */
export type SqlValue = string | number | null;

/** A row as the driver gives it: names as in the statement, times and JSON as text. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Statements inside one write transaction. */
export interface Sql {
  query(sql: string, args: readonly SqlValue[]): Promise<SqlRow[]>;
  /** @returns how many rows it changed */
  run(sql: string, args: readonly SqlValue[]): Promise<number>;
}

/** Where write transactions run. One at a time: whoever calls it sees to that. */
export interface TransactionRunner {
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
