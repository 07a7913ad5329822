import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { ChatError } from '../../../protocol/index.js';
import { PrismaClient } from './generated/sqlite/client.js';
import { Lanes } from './lanes.js';
import type { Sql, TransactionRunner } from './sql.js';
import { storageError } from './storage-error.js';

export type TransactionKind = 'read' | 'write';

export interface DatabaseOptions {
  readonly adapter: SqlDriverAdapterFactory;
  readonly writer: TransactionRunner;
  readonly onTransaction: (kind: TransactionKind) => void;
}

/**
 * The way of every part of the store to the database: gives writes their turns, counts, turns what drivers throw into
 * ChatErrors, and knows what is still running.
 */
export class Database {
  readonly #client: PrismaClient;
  readonly #running = new Set<Promise<unknown>>();
  /** A few, so that a long read does not hold up short ones; not all, or a thousand at once would hold the event loop. */
  readonly #reads = new Lanes(4);
  /** Two writers at once would refuse each other: the database has one lock, and nobody waits for it. */
  readonly #writes = new Lanes(1);
  #closed: Promise<void> | undefined;

  constructor(private readonly options: DatabaseOptions) {
    // `minimal`: the other formats read source files to show them in messages.
    this.#client = new PrismaClient({ adapter: options.adapter, errorFormat: 'minimal' });
  }

  /**
   * Reads. Each statement sees what was committed before it. One row is asked for by `findFirst`: the client joins calls
   * of `findUnique` that come together into one statement, which fails when a thousand do.
   */
  read<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    return this.#run('read', () => this.#reads.run(() => work(this.#client)));
  }

  /** One statement that writes, and is a transaction by itself. */
  write<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    return this.#run('write', () => this.#writes.run(() => work(this.#client)));
  }

  /** Statements that are stored all or none. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run('write', () => this.#writes.run(() => this.options.writer.transaction(work)));
  }

  /** Takes no more work, waits for what is running and closes the connections. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.#client.$disconnect();
    await this.options.writer.close();
  }

  async #run<T>(kind: TransactionKind, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ChatError('storage_unavailable', 'The storage is closed.');
    const running = work();
    this.#running.add(running);
    try {
      const result = await running;
      this.options.onTransaction(kind);
      return result;
    } catch (error) {
      throw storageError(error);
    } finally {
      this.#running.delete(running);
    }
  }
}
