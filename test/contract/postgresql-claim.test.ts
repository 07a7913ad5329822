import type { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import type { ClaimKind } from '../../server/adapters/prisma/postgresql/claim.js';
import { systemIds } from '../../server/id-source.js';
import type { Store } from '../../server/ports/store.js';
import { connection, postgresDatabase, type PostgresDatabase } from '../harness/postgres-database.js';
import { describeOnPostgres } from '../harness/services.js';
import { until } from '../harness/until.js';
import { manualClock, type ManualClock } from './manual-clock.js';
import { aChat } from './store/values.js';

/** Longer than the claim waits between two tries. */
const RETRY_MS = 1000;

describeOnPostgres('a PostgreSQL database for one server alone', () => {
  let database: PostgresDatabase;
  let clock: ManualClock;
  let store: Store;
  let beside: Client;
  beforeEach(async () => {
    database = postgresDatabase();
    clock = manualClock();
    store = await open();
    beside = await connection(database.url);
  });
  afterEach(async () => {
    await store.close();
    await beside.end();
    await database.remove();
  });

  const open = (claim: ClaimKind = 'alone') => openPrismaStore({ url: database.url, clock, ids: systemIds, claim });
  const write = () => store.createChat(aChat());
  const isWriting = () =>
    write().then(
      () => true,
      () => false,
    );
  /** Breaks the connection that holds the claim. */
  const breakClaim = () =>
    beside.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'turnstream claim' AND datname = current_database()`,
    );
  /** Stands in the queue for the claim, behind the store: has it as soon as it is free. */
  async function waitForClaim(): Promise<{ had: Promise<unknown>; release: () => Promise<void> }> {
    const { rows } = await beside.query<{ key: string }>(
      `SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
       WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(rows).toHaveLength(1);
    const other = await connection(database.url);
    const had = other.query('SELECT pg_advisory_lock($1)', [rows[0]?.key]);
    const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await until(async () => (await beside.query(waiting)).rowCount, 'the other to wait');
    return { had, release: () => other.end() };
  }

  it('is refused to a second one, and free again once the first is closed', async () => {
    await expect(open()).rejects.toMatchObject({ code: 'conflict' });
    await write();
    await store.close();
    store = await open();
    await write();
  });

  it('leaves alone who does not ask for it', async () => {
    const other = await openPrismaStore({ url: database.url, clock, ids: systemIds });
    await other.createChat(aChat());
    await other.close();
  });

  it('LIF-4: nodes hold it together, and with nobody who would be alone', async () => {
    await expect(open('among nodes')).rejects.toMatchObject({ code: 'conflict' });
    await store.close();
    store = await open('among nodes');
    const second = await open('among nodes');
    await expect(open()).rejects.toMatchObject({ code: 'conflict' });
    await second.close();
  });

  it('is had again after its connection broke, and nobody can take it meanwhile', async () => {
    await breakClaim();
    await until(isWriting, 'writes again');
    await expect(open()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('taken by another meanwhile: nothing is written until that one has gone; reads go on', async () => {
    const other = await waitForClaim();
    await breakClaim();
    await other.had;
    await until(async () => !(await isWriting()), 'writes to be refused');
    clock.advance(RETRY_MS);
    await expect(write()).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(store.write([])).resolves.toBeUndefined();
    expect((await store.listChats({ tenantId: null, anyOf: [{ everything: true }], page: 1, pageSize: 1 })).page).toBe(
      1,
    );
    await other.release();
    await until(async () => {
      clock.advance(RETRY_MS);
      return isWriting();
    }, 'writes again');
  });

  it('is not taken again by a store that is closed', async () => {
    const other = await waitForClaim();
    await breakClaim();
    await other.had;
    await store.close();
    clock.advance(RETRY_MS);
    await other.release();
    // The database frees it a moment after its holder has gone.
    store = await until(() => open().catch(() => null), 'the claim');
    await write();
  });
});
