import BetterSqlite3 from 'better-sqlite3';
import type { Sql, SqlRow, SqlValue, TransactionRunner } from '../sql.js';
import { sqliteDialect } from './dialect.js';
import type { LoopShare } from './loop-share.js';
import type { WalCheckpointer } from './wal-checkpointer.js';

export interface SqliteWriterOptions {
  readonly path: string;
  /** Run once, before anything else. */
  readonly pragmas: readonly string[];
  readonly share: LoopShare;
  readonly checkpointer: WalCheckpointer;
  /** Sees the text of every statement as it is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/**
 * The connection of write transactions: prepared statements straight on the driver, a quarter of the client's cost
 * (docs/decisions/0011). Readers have a connection of their own, so they never see a transaction before its commit and
 * never wait for a long one.
 */
export class SqliteWriter implements TransactionRunner {
  readonly #statements = new Map<string, BetterSqlite3.Statement<SqlValue[]>>();
  #file: BetterSqlite3.Database | undefined;

  constructor(private readonly options: SqliteWriterOptions) {}

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    await this.options.checkpointer.room();
    // IMMEDIATE: a database that another process is writing to refuses here, before anything was done.
    await this.#run('BEGIN IMMEDIATE', []);
    try {
      const result = await work({
        dialect: sqliteDialect,
        query: (sql, args) => this.#query(sql, args),
        run: (sql, args) => this.#run(sql, args),
        // One after the other: all at once would hold the event loop.
        each: async (items, work) => {
          for (const item of items) await work(item);
        },
      });
      await this.#run('COMMIT', []);
      this.options.checkpointer.committed(this.#uncopiedPages());
      return result;
    } catch (error) {
      // SQLite may have ended it already: a full disk, a failed commit.
      if (this.#open().inTransaction) await this.#run('ROLLBACK', []);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.options.checkpointer.close();
    this.#file?.close();
    this.#file = undefined;
  }

  /** Committed pages that are in the log only. NOOP: looks, copies nothing. */
  #uncopiedPages(): number {
    const [row] = this.#prepare('PRAGMA wal_checkpoint(NOOP)').all() as [{ log: number; checkpointed: number }];
    return row.log - row.checkpointed;
  }

  #query(sql: string, args: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#send(sql, (statement) => statement.all(...args) as SqlRow[]);
  }

  #run(sql: string, args: readonly SqlValue[]): Promise<number> {
    return this.#send(sql, (statement) => statement.run(...args).changes);
  }

  #send<T>(sql: string, use: (statement: BetterSqlite3.Statement<SqlValue[]>) => T): Promise<T> {
    const { share, onStatement } = this.options;
    onStatement?.(sql);
    return share.run(() => use(this.#prepare(sql)));
  }

  #prepare(sql: string): BetterSqlite3.Statement<SqlValue[]> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#open().prepare<SqlValue[]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #open(): BetterSqlite3.Database {
    if (this.#file) return this.#file;
    const { path, pragmas } = this.options;
    // `timeout` is SQLite's busy timeout, which sleeps on this thread (docs/decisions/0012).
    const file = new BetterSqlite3(path, { timeout: 0 });
    try {
      for (const pragma of pragmas) file.pragma(pragma);
    } catch (error) {
      file.close();
      throw error;
    }
    return (this.#file = file);
  }
}
