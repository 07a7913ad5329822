import { databaseUrl } from './database.js';
import type { Hold } from './hold.js';
import { PostgresBeside } from './postgres-beside.js';
import { SqliteBeside } from './sqlite-beside.js';

export type Row = Record<string, unknown>;

/** Another program at the database of a server: it looks on, or gets in the way. */
export interface StoreBeside {
  /**
   * What one SELECT finds, with a `?` for each value. JSON is given as values, and a time as SQLite keeps it: ISO 8601 with
   * milliseconds and `+00:00`.
   */
  rows(sql: string, ...args: readonly unknown[]): Promise<Row[]>;
  /** Readers go on, no write gets through until it is released. */
  lock(): Promise<Hold>;
  /** Every UPDATE of the table is refused, also over restarts of the server, until it is released. */
  refuseUpdates(table: string): Promise<Hold>;
}

/** @param dataDir the data directory of the server */
export function storeBeside(dataDir: string): StoreBeside {
  const url = databaseUrl(dataDir);
  return url.startsWith('file:') ? new SqliteBeside(url.slice('file:'.length)) : new PostgresBeside(url);
}
