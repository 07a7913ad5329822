import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { ChatError } from '../../../protocol/index.js';
import { PrismaClient } from './generated/sqlite/client.js';
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
  /** Settles when the last write in the row has had its turn. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(private readonly options: DatabaseOptions) {
    // `minimal`: the other formats read source files to show them in messages.
    this.#client = new PrismaClient({ adapter: options.adapter, errorFormat: 'minimal' });
  }

  /** Reads. Each statement sees what was committed before it. */
  read<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    return this.#run('read', () => work(this.#client));
  }

  /** One statement that writes, and is a transaction by itself. */
  write<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    return this.#run('write', () => this.#inTurn(() => work(this.#client)));
  }

  /** Statements that are stored all or none. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run('write', () => this.#inTurn(() => this.options.writer.transaction(work)));
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

  /** Two writers at once would refuse each other: the database has one lock, and nobody waits for it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastWrite.then(work);
    this.#lastWrite = turn.catch(() => undefined);
    return turn;
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
