import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type {
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
  SqlResultSet,
  Transaction,
} from '@prisma/driver-adapter-utils';
import type { LoopShare } from './loop-share.js';

export interface PrismaConnectionOptions {
  readonly url: string;
  /** Run once, before anything else. */
  readonly pragmas: readonly string[];
  readonly share: LoopShare;
  /** Sees the text of every statement as it is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/** The Prisma client's connection to a SQLite file: single statements that share the event loop with everyone else. */
export class PrismaConnectionFactory implements SqlDriverAdapterFactory {
  readonly provider = 'sqlite';
  readonly adapterName = 'turnstream-sqlite';

  constructor(private readonly options: PrismaConnectionOptions) {}

  async connect(): Promise<SqlDriverAdapter> {
    const { url, pragmas } = this.options;
    // `timeout` is SQLite's busy timeout, which sleeps on this thread (docs/decisions/0012).
    const inner = await new PrismaBetterSqlite3({ url, timeout: 0 }).connect();
    try {
      for (const pragma of pragmas) await inner.executeScript(`PRAGMA ${pragma}`);
    } catch (error) {
      await inner.dispose();
      throw error;
    }
    return new PrismaConnection(inner, this.options);
  }
}

class PrismaConnection implements SqlDriverAdapter {
  readonly provider = 'sqlite';
  readonly adapterName = 'turnstream-sqlite';

  constructor(
    private readonly inner: SqlDriverAdapter,
    private readonly options: PrismaConnectionOptions,
  ) {}

  queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return this.#send(query.sql, () => this.inner.queryRaw(query));
  }

  executeRaw(query: SqlQuery): Promise<number> {
    return this.#send(query.sql, () => this.inner.executeRaw(query));
  }

  executeScript(script: string): Promise<void> {
    return this.#send(script, () => this.inner.executeScript(script));
  }

  /**
   * Refused. On Prisma's one SQLite connection, plain queries run inside whatever transaction is open on it: they see
   * rows that were never committed, and an acknowledged write is lost when that transaction rolls back.
   */
  startTransaction(): Promise<Transaction> {
    return Promise.reject(new Error('Write transactions have a connection of their own: see TransactionRunner.'));
  }

  dispose(): Promise<void> {
    return this.inner.dispose();
  }

  #send<T>(sql: string, statement: () => Promise<T>): Promise<T> {
    this.options.onStatement?.(sql);
    return this.options.share.run(statement);
  }
}
