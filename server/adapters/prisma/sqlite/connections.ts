/**
 * All that is SQLite's own about the store.
 */
import type { Clock } from '../../../clock.js';
import type { Connections } from '../connections.js';
import { PrismaClient } from '../generated/sqlite/client.js';
import { PrismaConnectionFactory } from './connection.js';
import { sqliteDialect } from './dialect.js';
import { LoopShare } from './loop-share.js';
import { SqliteWriter } from './writer.js';
import { WalCheckpointer } from './wal-checkpointer.js';

export interface SqliteOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly synchronous: 'NORMAL' | 'FULL';
  readonly onStatement?: ((sql: string) => void) | undefined;
}

export const sqlitePath = (url: string): string => url.replace(/^file:/, '');

/** The two connections to one file: the client's, and that of write transactions. */
export function sqliteConnections({ url, clock, synchronous, onStatement }: SqliteOptions): Connections {
  const share = new LoopShare(clock);
  const pragmas = ['journal_mode = WAL', `synchronous = ${synchronous}`, 'foreign_keys = ON', 'temp_store = MEMORY'];
  const adapter = new PrismaConnectionFactory({
    url,
    share,
    onStatement,
    pragmas: [...pragmas, 'cache_size = -16384'],
  });
  return {
    // `minimal`: the other formats read source files to show them in messages.
    client: new PrismaClient({ adapter, errorFormat: 'minimal' }),
    dialect: sqliteDialect,
    // A few, so that a long read does not hold up short ones; not all, or a thousand at once would hold the event loop.
    readers: 4,
    // Two writers at once would refuse each other: the database has one lock, and nobody waits for it.
    writers: 1,
    writer: new SqliteWriter({
      path: sqlitePath(url),
      share,
      onStatement,
      checkpointer: new WalCheckpointer(sqlitePath(url)),
      pragmas: [
        ...pragmas,
        // Kibibytes, as a negative number.
        'cache_size = -65536',
        // Pages of 4 KiB. More changed ones than this go to the log while a transaction runs, so that its commit is short.
        'cache_spill = 500',
        // Pages (128 MiB). Checkpoints have a thread of their own; this is for when that is gone.
        'wal_autocheckpoint = 32768',
      ],
    }),
  };
}
