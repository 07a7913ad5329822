/**
 * All that is PostgreSQL's own about the store.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Clock } from '../../../clock.js';
import type { Connections } from '../connections.js';
import { PrismaClient } from '../generated/postgresql/client.js';
import type { PrismaClient as CommonClient } from '../generated/sqlite/client.js';
import { postgresDialect } from './dialect.js';
import { PostgresWriter } from './writer.js';

export interface PostgresOptions {
  readonly clock: Clock;
  readonly url: string;
  /** Connections to the database that this process opens at most; half of them write. At least two. */
  readonly connections: number;
  /** Milliseconds that a write waits for rows that others hold. */
  readonly lockWaitMs: number;
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/** Milliseconds after which the store says that it cannot: waiting longer is its caller's policy. */
const TIMEOUTS = {
  connectionTimeoutMillis: 5_000,
  // A commit that was asked for and not answered may have been done: only where nothing comes at all is it given up.
  query_timeout: 30_000,
  statement_timeout: 25_000,
  // A process that was stopped within a transaction holds its rows, and others from taking its chats, no longer than this.
  idle_in_transaction_session_timeout: 3_000,
};

/** The two pools to one database: the client's, and that of write transactions. */
export function postgresConnections({
  url,
  clock,
  connections,
  lockWaitMs,
  onStatement,
}: PostgresOptions): Connections {
  const writers = Math.max(1, Math.floor(connections / 2));
  const readers = Math.max(1, connections - writers);
  const reading = poolOf(url, { max: readers, lock_timeout: lockWaitMs });
  if (onStatement) watch(reading, onStatement);
  const client = new PrismaClient({
    adapter: new PrismaPg(reading, { disposeExternalPool: true }),
    errorFormat: 'minimal',
  });
  return {
    // Both clients are made from the same models; SQLite's is the narrower one, so what is written for it holds here.
    client: client as unknown as CommonClient,
    writer: new PostgresWriter({
      clock,
      pool: poolOf(url, { max: writers, lock_timeout: lockWaitMs, pipeline: true }),
      onStatement,
    }),
    dialect: postgresDialect,
    readers,
    writers,
  };
}

function poolOf(url: string, options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'turnstream',
    keepAlive: true,
    ...TIMEOUTS,
    ...options,
  });
  // An idle connection that the server has closed is replaced by the next that is needed.
  pool.on('error', () => {});
  return pool;
}

/** Sees what the Prisma client sends. */
function watch(pool: pg.Pool, onStatement: (sql: string) => void): void {
  const send = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  Object.assign(pool, {
    query: (...args: unknown[]) => {
      const [query] = args;
      onStatement(typeof query === 'string' ? query : (query as { text: string }).text);
      return send(...args);
    },
  });
}
