import type { Dialect } from './dialect.js';
import type { PrismaClient } from './generated/sqlite/client.js';
import type { TransactionRunner } from './sql.js';

/** What a kind of database gives the store: `sqlite/` and `postgresql/` each make one. */
export interface Connections {
  readonly client: PrismaClient;
  readonly writer: TransactionRunner;
  readonly dialect: Dialect;
  /** How many reads, and how many writes, may run at once. */
  readonly readers: number;
  readonly writers: number;
}
