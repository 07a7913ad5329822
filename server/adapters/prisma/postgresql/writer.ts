import type { Pool, PoolClient } from 'pg';
import type { Sql, SqlRow, SqlValue, TransactionRunner } from '../sql.js';
import { postgresDialect } from './dialect.js';

export interface PostgresWriterOptions {
  /** Its connections are in pipeline mode. */
  readonly pool: Pool;
  /** Sees the text of every statement as it is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/** Statements on their way at once: more would fill the buffers of a socket that nobody reads meanwhile. */
const WINDOW = 100;

/**
 * The connections of write transactions: statements straight on the driver, as on SQLite (docs/decisions/0011), so that a
 * turn's rows are sent one behind the other without waiting for each answer.
 */
export class PostgresWriter implements TransactionRunner {
  readonly #texts = new Map<string, string>();

  constructor(private readonly options: PostgresWriterOptions) {}

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.options.pool.connect();
    // A connection that breaks between two statements says so here too; the statement behind it fails.
    const ignore = (): void => {};
    client.on('error', ignore);
    let failure: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(this.#sqlOn(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      // What cannot even roll back is thrown away, and its transaction with it.
      await client.query('ROLLBACK').catch((broken: Error) => (failure = broken));
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(failure);
    }
  }

  close(): Promise<void> {
    return this.options.pool.end();
  }

  #sqlOn(client: PoolClient): Sql {
    const send = async (sql: string, args: readonly SqlValue[]) => {
      const text = this.#textOf(sql);
      this.options.onStatement?.(text);
      return client.query<SqlRow>(text, [...args]);
    };
    return {
      dialect: postgresDialect,
      query: async (sql, args) => (await send(sql, args)).rows,
      run: async (sql, args) => (await send(sql, args)).rowCount ?? 0,
      each: async (items, work) => {
        for (let from = 0; from < items.length; from += WINDOW) {
          const sent = await Promise.allSettled(items.slice(from, from + WINDOW).map(work));
          // After the first failure the database refuses the rest: only the first says why.
          for (const outcome of sent) if (outcome.status === 'rejected') throw outcome.reason;
        }
      },
    };
  }

  #textOf(sql: string): string {
    let text = this.#texts.get(sql);
    if (text === undefined) {
      text = postgresDialect.parameters(sql);
      this.#texts.set(sql, text);
    }
    return text;
  }
}
