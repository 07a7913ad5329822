import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { connection, postgresDatabase } from '../harness/postgres-database.js';
import type { StoreUnderTest } from './store.js';

const TABLES = ['agent_chat', 'agent_message', 'agent_turn', 'agent_step'];

export interface PostgresStore extends StoreUnderTest {
  readonly url: string;
  /** Every statement that the store has sent, once. */
  readonly statements: Set<string>;
}

/** The store on a PostgreSQL database of its own, with another connection beside it that looks on or gets in the way. */
export async function openPostgresStore(): Promise<PostgresStore> {
  const { url, remove } = postgresDatabase();
  const transactions = { read: 0, write: 0 };
  const statements = new Set<string>();
  const store = await openPrismaStore({
    url,
    clock: systemClock,
    ids: systemIds,
    lockWaitMs: 400,
    onTransaction: (kind) => transactions[kind]++,
    onStatement: (sql) => statements.add(sql),
  });
  const beside = await connection(url);
  const all = async (sql: string, ...args: unknown[]): Promise<unknown[]> =>
    (await beside.query<unknown[]>({ text: sql, values: args, rowMode: 'array' })).rows.map(([value]) => value);
  return {
    store,
    url,
    transactions,
    statements,
    lockSaidMs: 1500,
    async lock() {
      await beside.query(`BEGIN; LOCK TABLE ${TABLES.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
      return async () => void (await beside.query('ROLLBACK'));
    },
    async storedTimes() {
      const columns = await all(
        `SELECT format('SELECT to_char(%I, ''YYYY-MM-DD"T"HH24:MI:SS.MS'') FROM %I WHERE %I IS NOT NULL', column_name, table_name, column_name)
         FROM information_schema.columns WHERE table_name = ANY($1) AND data_type LIKE 'timestamp%'`,
        TABLES,
      );
      return (await all(columns.join(' UNION ALL '))).map(String);
    },
    async liveRows(chatId) {
      const counts = TABLES.map((table) => `SELECT count(*) FROM ${table} WHERE chat_id = $1 AND deleted_at IS NULL`);
      const [sum] = await all(`SELECT (${counts.join(') + (')})`, chatId);
      return Number(sum);
    },
    async close() {
      await store.close();
      await beside.end();
      await remove();
    },
  };
}
