import pg from 'pg';
import { ChatError } from '../../../../protocol/index.js';
import { isoNow } from '../../../clock.js';
import {
  APPLIED_MIGRATIONS,
  type AppliedMigration,
  LOCK_WAIT_MS,
  type MigrateOptions,
  type Migration,
  migrationFailed,
  nextMigration,
  ownMigrations,
  readMigrations,
} from '../migrations.js';
import { createDatabase } from './create-database.js';

/** The advisory lock that Prisma's schema engine takes while it migrates: its command line and this wait for each other. */
const PRISMA_LOCK = 72707369;

/** As Prisma's schema engine makes it: its CLI reads and writes the same table. */
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum"              VARCHAR(64) NOT NULL,
    "finished_at"           TIMESTAMPTZ,
    "migration_name"        VARCHAR(255) NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        TIMESTAMPTZ,
    "started_at"            TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count"   INTEGER NOT NULL DEFAULT 0
)`;

/** As `migrate`, for PostgreSQL. A database that is not there yet is made, where the user may make one. */
export async function migratePostgres(options: MigrateOptions): Promise<string[]> {
  const { url, lockWaitMs = LOCK_WAIT_MS } = options;
  const migrations = await readMigrations(options.directory ?? ownMigrations('postgresql'));
  try {
    const client = await connected(url);
    try {
      // It bounds the wait for others who migrate, and that for rows and tables which running servers are using.
      await client.query(`SET lock_timeout = ${Math.ceil(lockWaitMs)}`);
      // Where the server can: a migration whose process was killed ends, and with it the lock. It would go on to its end.
      await client.query(`SET client_connection_check_interval = '1s'`).catch(() => undefined);
      await client.query('SELECT pg_advisory_lock($1)', [PRISMA_LOCK]);
      await client.query(MIGRATIONS_TABLE);
      const applied: string[] = [];
      for (;;) {
        const { rows } = await client.query<AppliedMigration>(APPLIED_MIGRATIONS);
        const next = nextMigration(rows, migrations);
        if (!next) return applied;
        await apply(client, next, options);
        applied.push(next.name);
      }
    } finally {
      // With it goes the lock.
      await client.end();
    }
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw new ChatError('storage_unavailable', undefined, { cause: error });
  }
}

const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'turnstream migrate',
    connectionTimeoutMillis: 5_000,
  });
  // The statement that was under way says it too.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    if (!(await createDatabase(url, error))) throw error;
    return connected(url);
  }
};

async function apply(client: pg.Client, { name, sql, checksum }: Migration, { clock, ids }: MigrateOptions) {
  const startedAt = isoNow(clock);
  await client.query('BEGIN');
  try {
    // One string of several statements: the driver sends it as it stands.
    await client.query(sql);
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES ($1, $2, $3, $4, $5, 1)',
      [ids.id(), checksum, name, startedAt, isoNow(clock)],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw isGone(error) ? error : migrationFailed(name, error);
  }
}

/** Whether the server, or the way to it, ended while the migration ran; or somebody held a lock for too long. */
const isGone = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || /^(57P|08|55P03)/.test(error.code ?? '');
