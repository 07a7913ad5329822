import { ChatError } from '../../../protocol/index.js';
import type { Connections } from './connections.js';
import type { Dialect } from './dialect.js';
import type { Prisma, PrismaClient } from './generated/sqlite/client.js';
import { Lanes } from './lanes.js';
import type { Fencing } from './fencing.js';
import type { DatabaseClaim } from './postgresql/claim.js';
import type { Sql, SqlValue } from './sql.js';
import { storageError } from './storage-error.js';

export type TransactionKind = 'read' | 'write';

/** Rows of a statement in which a `?` stands for each value, as the client's own types. */
export type Select = <Row>(sql: string, args: readonly SqlValue[]) => Promise<Row[]>;

export interface Guard {
  /** Where the database is for one server alone: without it nothing is written. */
  readonly claim?: DatabaseClaim | undefined;
  /** Where several servers share it: what each may write. */
  readonly fencing?: Fencing | undefined;
}

/**
 * The way of every part of the store to the database: gives writes their turns, counts, turns what drivers throw into
 * ChatErrors, and knows what is still running.
 */
export class Database {
  readonly #running = new Set<Promise<unknown>>();
  readonly #reads: Lanes;
  readonly #writes: Lanes;
  readonly #select: Select;
  #closed: Promise<void> | undefined;

  constructor(
    private readonly connections: Connections,
    private readonly onTransaction: (kind: TransactionKind) => void,
    private readonly guard: Guard = {},
  ) {
    const { client, dialect, readers, writers } = connections;
    this.#reads = new Lanes(readers);
    this.#writes = new Lanes(writers);
    this.#select = selectOn(client, dialect);
  }

  get dialect(): Dialect {
    return this.connections.dialect;
  }

  /**
   * Reads. Each statement sees what was committed before it. One row is asked for by `findFirst`: the client joins calls
   * of `findUnique` that come together into one statement, which fails when a thousand do.
   */
  read<T>(work: (client: PrismaClient, select: Select) => Promise<T>): Promise<T> {
    return this.#run('read', () => this.#reads.run(() => work(this.connections.client, this.#select)));
  }

  /** One statement that writes, and is a transaction by itself; of no chat. */
  write<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    return this.#run('write', () => this.#writes.run(() => work(this.connections.client)));
  }

  /** One statement that writes a row of a chat. @param chatOf whose row it is; undefined: of none that is there */
  writeIn<T>(
    chatOf: (client: Prisma.TransactionClient) => Promise<string | undefined>,
    work: (client: Prisma.TransactionClient) => Promise<T>,
  ): Promise<T> {
    const { fencing } = this.guard;
    if (!fencing) return this.write(work);
    const { client, dialect } = this.connections;
    const fenced = (): Promise<T> =>
      client.$transaction(async (transaction) => {
        const chatId = await chatOf(transaction);
        if (chatId !== undefined) await fencing.mustHold(chatId, selectOn(transaction, dialect));
        return work(transaction);
      });
    return this.#run('write', () => this.#writes.run(fenced));
  }

  /** Statements that are stored all or none, and the chats whose rows they write. */
  transaction<T>(chatIds: readonly string[], work: (sql: Sql) => Promise<T>): Promise<T> {
    const guarded = async (sql: Sql): Promise<T> => {
      await this.#lock(sql, chatIds);
      return work(sql);
    };
    return this.#run('write', () => this.#writes.run(() => this.connections.writer.transaction(guarded)));
  }

  /** In one order, whatever that of the writes: so that two transactions never wait for each other. */
  async #lock(sql: Sql, chatIds: readonly string[]): Promise<void> {
    const { fencing } = this.guard;
    const { forUpdate } = this.dialect;
    if (forUpdate === '') return;
    const inOrder = [...new Set(chatIds)].sort();
    if (fencing) await sql.each(inOrder, (chatId) => fencing.mustHold(chatId, sql.query));
    await sql.each(inOrder, (chatId) => sql.query(`SELECT id FROM agent_chat WHERE chat_id = ?${forUpdate}`, [chatId]));
  }

  /** Takes no more work, waits for what is running and closes the connections. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.connections.client.$disconnect();
    await this.connections.writer.close();
    await this.guard.claim?.release();
  }

  async #run<T>(kind: TransactionKind, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ChatError('storage_unavailable', 'The storage is closed.');
    if (kind === 'write' && this.guard.claim?.isHeld === false) throw new ChatError('storage_unavailable');
    const running = work();
    this.#running.add(running);
    try {
      const result = await running;
      this.onTransaction(kind);
      return result;
    } catch (error) {
      throw storageError(error);
    } finally {
      this.#running.delete(running);
    }
  }
}

const selectOn =
  (client: Prisma.TransactionClient, dialect: Dialect): Select =>
  (sql, args) =>
    client.$queryRawUnsafe(dialect.parameters(sql), ...args);
