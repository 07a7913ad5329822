import type { Dialect } from './dialect.js';

/** A value that a statement takes for a `?`. */
export type SqlValue = string | number | null;

/** A row as the driver gives it: names as in the statement, times and JSON as the driver likes. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Statements inside one write transaction, in which a `?` stands for each value. */
export interface Sql {
  readonly dialect: Dialect;
  readonly query: (sql: string, args: readonly SqlValue[]) => Promise<SqlRow[]>;
  /** @returns how many rows it changed */
  run(sql: string, args: readonly SqlValue[]): Promise<number>;
  /**
   * Runs `work` for each item, in their order; it sends one statement. Where the database is far away they are sent without
   * waiting for one another's answers.
   * @throws what the first of them threw; those behind it have changed nothing
   */
  each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void>;
}

/** Where write transactions run, as many at once as `writers` of the connections says: whoever calls it sees to that. */
export interface TransactionRunner {
  /** Commits when `work` resolves, rolls back when it rejects. It may be called again where the database undid it. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
