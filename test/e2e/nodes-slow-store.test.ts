import { expect, test } from 'vitest';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { connected } from '../harness/postgres-database.js';
import { clientOf, endOf, opened } from '../harness/sdk.js';
import { describeOnPostgres } from '../harness/services.js';

/** Each new chat takes so long to be written, until it is told that it is enough. */
async function slowly(url: string, seconds: number): Promise<() => Promise<unknown>> {
  const change = (sql: string) => connected(url, (client) => client.query(sql));
  await change(`
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NEW; END $$;
    CREATE TRIGGER slow BEFORE INSERT ON agent_chat FOR EACH ROW EXECUTE FUNCTION slowly()`);
  return () => change('DROP FUNCTION slowly CASCADE');
}

describeOnPostgres('LIF-4: a store that is slower than a chat is kept unused', { timeout: 60_000 }, () => {
  test('TRN-6: the turn of a chat that takes 8 s to be made ends, and the next one runs', async () => {
    const nodes = new Nodes();
    const { url } = await nodes.start();
    const enough = await slowly(nodes.env['DATABASE_URL'] ?? '', 8);
    const client = clientOf(url);
    const chat = client.chat('slow');
    const { requestId } = (await chat.start('one', { createChat: true, assistantId: 'echo' })).turn;
    await enough();
    expect(await nodes.redis('HGET', 'owner:slow', 'node'), 'the chat has an owner').toBeTruthy();
    await opened(client, 'slow');
    expect((await endOf(chat, requestId)).status).toBe('completed');
    const next = (await chat.start('two')).turn;
    expect((await endOf(chat, next.requestId)).status).toBe('completed');
    await expectConsistent(url, 'slow');
  });
});
