import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canMakeCluster, makeCluster, type Cluster } from '../../tools/postgres-cluster.mjs';
import { expectConsistent } from '../harness/consistent.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { readiness } from '../harness/readiness.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);
const READY = [200, { store: true, log: true, journal: true, draining: false }];
const WITHOUT_STORE = [503, { store: false, log: true, journal: true, draining: false }];

/** A PostgreSQL of its own, which crashes and comes back under a server that runs. */
describe.skipIf(!canMakeCluster())('TRN-7: PostgreSQL crashes and comes back', { timeout: 60_000 }, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await makeCluster();
    await cluster.start();
  }, 60_000);
  afterAll(() => cluster.remove());

  /** A server on a database of its own there, with a turn whose text the database does not have yet. */
  async function running(env: Record<string, string>) {
    const here = await scene({ env: { DATABASE_URL: postgresDatabase(cluster.url).url, ...env } });
    const run = await here.turn();
    await run.send('precious');
    return { ...here, run };
  }

  test('an end that is stored meanwhile waits for it, and nobody is told of a failure', async () => {
    const { url, run, person, chatId, turn, view } = await running({ COMMIT_RETRY_MS: '50000' });
    expect(await readiness(url)).toEqual(READY);
    await cluster.stop('immediate');
    const closing = run.close();
    await until(async () => JSON.stringify(await readiness(url)) === JSON.stringify(WITHOUT_STORE), 'readyz fails');
    expect((await person.refused('turn:get', { requestId: 'elsewhere' })).code).toBe('storage_unavailable');
    // What streams goes on.
    expect(contents(view.messages)).toEqual(['go', 'precious']);
    expect(view.ends(run.requestId)).toHaveLength(0);
    await cluster.start();
    expect(await closing).toMatchObject({ persisted: true, turn: { status: 'completed' } });
    await until(async () => JSON.stringify(await readiness(url)) === JSON.stringify(READY), 'readyz');
    // Its pools are whole again: as many at once as there are connections, and more.
    await Promise.all(Array.from({ length: 40 }, () => person.turn(run.requestId)));
    const next = await Promise.all(Array.from({ length: 8 }, () => turn({ onBusy: 'parallel' })));
    await Promise.all(next.map((each) => each.close()));
    await expectConsistent(url, chatId, [person]);
  });

  test('an end that waited for too long is told as not persisted, and stored as soon as it is back', async () => {
    const { url, run, person, chatId, view } = await running({ COMMIT_RETRY_MS: '150' });
    await cluster.stop('immediate');
    void run.close();
    expect(await person.ended(chatId, run.requestId)).toMatchObject({ persisted: false });
    expect((await person.refused('turn:start', { chatId, input: 'x' })).code).toBe('storage_unavailable');
    await cluster.start();
    await until(() => view.events.some(({ type }) => type === 'turn.persisted'), 'turn.persisted', 20_000);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'precious']);
    expect((await person.turn(run.requestId)).status).toBe('completed');
  });
});
