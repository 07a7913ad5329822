import { expect, onTestFinished, test } from 'vitest';
import { uid } from '../harness/peer.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeOnPostgres, POSTGRES_URL } from '../harness/services.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** A server whose network to PostgreSQL loses the answer to a commit: what was written stands, and nobody was told so. */
async function overBadNetwork(env: Record<string, string> = {}) {
  const proxy = await Proxy.to(POSTGRES_URL, asBytes);
  const database = postgresDatabase();
  onTestFinished(database.remove);
  const url = new URL(database.url);
  url.port = new URL(proxy.url).port;
  const here = await scene({ env: { DATABASE_URL: url.href, ...env } });
  /** The next commit's answer is lost, with every connection. @param isAway whether there are no others until `heal` */
  const loseNextCommit = ({ isAway = false } = {}): void => {
    proxy.fate = (bytes) => {
      if (!bytes.includes('COMMIT')) return 'pass';
      proxy.fate = () => 'pass';
      proxy.isUp = !isAway;
      if (isAway) setImmediate(() => proxy.cut());
      return 'cut';
    };
  };
  return { ...here, loseNextCommit, heal: () => void (proxy.isUp = true) };
}

describeOnPostgres('a commit whose answer is lost', () => {
  test('CMD-3: a deletion is told to everybody, and the chat is there for nobody', async () => {
    const { person, chatId, view, loseNextCommit } = await overBadNetwork();
    loseNextCommit();
    await person.do('chat:delete', { chatId });
    await until(() => view.events.at(-1)?.type === 'chat.deleted', 'chat.deleted');
    expect((await person.refused('chat:get', { chatId })).code).toBe('not_found');
  });

  const refusedStart = async () => {
    const here = await overBadNetwork({ COMMIT_RETRY_MS: '300' });
    const start = { chatId: here.chatId, requestId: uid('r'), input: 'go' };
    here.loseNextCommit({ isAway: true });
    expect((await here.person.refused('turn:start', start)).code).toBe('storage_unavailable');
    here.heal();
    return { ...here, start };
  };

  test('TRN-1, TRN-2: a start that was refused for it begins when it is repeated, and its input stands once', async () => {
    const { person, agent, chatId, view, start } = await refusedStart();
    const again = await until(() => person.do('turn:start', start).catch(() => null), 'the database is back');
    expect(again).toMatchObject({ duplicate: true, turn: { attempt: 1, endedAt: null } });
    const run = await agent.run(start.requestId);
    await run.send('answered');
    await run.close();
    await person.ended(chatId, start.requestId);
    expect(view.messages.map(({ props }) => props['content'])).toEqual(['go', 'answered']);
  });

  test('TRN-5: a start that was refused for it can be stopped', async () => {
    const { person, chatId, start } = await refusedStart();
    const { requestId } = start;
    const stop = await until(
      () => person.do('turn:stop', { chatId, requestId }).catch(() => null),
      'the database is back',
    );
    expect(stop).toMatchObject({ turn: { status: 'interrupted', stopReason: 'stopped' } });
    expect((await person.turn(requestId)).status).toBe('interrupted');
  });
});
