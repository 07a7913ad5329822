import pg, { type Pool, type PoolClient } from 'pg';
import { pause, type Clock } from '../../../clock.js';
import type { Sql, SqlRow, SqlValue, TransactionRunner } from '../sql.js';
import { postgresDialect } from './dialect.js';

export interface PostgresWriterOptions {
  readonly clock: Clock;
  /** Its connections are in pipeline mode. */
  readonly pool: Pool;
  /** Sees the text of every statement as it is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/** The database has found two that wait for each other, and undone this one: of ids that cross over, whoever is second. */
const DEADLOCK = '40P01';
/**
 * How often a transaction is tried, and how long it stands back before the second time, each later one four times as long: at
 * once it would meet the other again, and a busy machine takes its time to end that one.
 */
const TRIES = 5;
const STAND_BACK_MS = 50;

/** Under its name a connection parses a statement once. */
interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Statements on their way at once: more would fill the buffers of a socket that nobody reads meanwhile. */
const WINDOW = 100;

/**
 * The connections of write transactions: statements straight on the driver, as on SQLite (docs/decisions/0011), so that a
 * turn's rows are sent one behind the other without waiting for each answer.
 */
export class PostgresWriter implements TransactionRunner {
  readonly #statements = new Map<string, NamedStatement>();

  constructor(private readonly options: PostgresWriterOptions) {}

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(work);
      } catch (error) {
        const isDeadlock = error instanceof pg.DatabaseError && error.code === DEADLOCK;
        if (!isDeadlock || tries === TRIES) throw error;
        await pause(this.options.clock, STAND_BACK_MS * 4 ** (tries - 1));
      }
    }
  }

  async #once<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.options.pool.connect();
    // A connection that breaks between two statements says so here too; the statement behind it fails.
    const ignore = (): void => {};
    client.on('error', ignore);
    let failure: Error | undefined;
    try {
      // Not waited for: it goes with the first statement, which fails where it does.
      client.query('BEGIN').catch(() => {});
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
      const statement = this.#statementOf(sql);
      this.options.onStatement?.(statement.text);
      return client.query<SqlRow>({ ...statement, values: [...args] });
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

  #statementOf(sql: string): NamedStatement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = { name: `write ${this.#statements.size}`, text: postgresDialect.parameters(sql) };
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
