import Database from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PrismaClient } from '../../server/adapters/prisma/generated/sqlite/client.js';
import { LoopShare } from '../../server/adapters/prisma/sqlite/loop-share.js';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { PrismaConnectionFactory } from '../../server/adapters/prisma/sqlite/connection.js';
import { PrismaStore } from '../../server/adapters/prisma/prisma-store.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { sqliteFile } from './sqlite-file.js';
import { aChat, aMessage, aRecord, aTurn, anEnd, at, begun } from './store/values.js';

describe('the connections to a SQLite file', () => {
  let file: Awaited<ReturnType<typeof sqliteFile>>;
  beforeEach(async () => {
    file = await sqliteFile();
  });
  afterEach(() => file.remove());

  const open = (url = file.url) => openPrismaStore({ url, clock: systemClock, ids: systemIds });

  it('makes the file, and its folder, where they are missing', async () => {
    const path = join(file.path, '..', 'made', 'when', 'missing.db');
    const store = await open(`file:${path}`);
    await store.close();
    expect(existsSync(path)).toBe(true);
  });

  it('a file that cannot be opened is storage_unavailable, for every kind of work', async () => {
    const store = new PrismaStore({ url: `file:${join(file.path, 'nowhere', 'x.db')}`, clock: systemClock });
    const record = aRecord(aTurn('chat'));
    for (const work of [() => store.ping(), () => store.createChat(aChat()), () => store.write([anEnd(record)])]) {
      await expect(work()).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
    await store.close();
  });

  it('what goes wrong in the database is told without SQL or data; the cause has it all', async () => {
    const store = await open();
    const record = await begun(store, aChat({ title: 'a secret' }));
    const beside = new Database(file.path);
    beside.exec('DROP TABLE agent_message');
    beside.close();
    const message = 'The storage does not answer at present.';
    const end = anEnd(record, { messages: [aMessage(record.turn.chatId, 2, { requestId: record.turn.requestId })] });
    for (const work of [() => store.write([end]), () => store.getMessage('x'), () => store.getMessages('x', {})]) {
      await expect(work()).rejects.toMatchObject({
        code: 'storage_unavailable',
        message,
        cause: expect.any(Error) as Error,
      });
    }
    expect(await store.getTurn(record.turn.requestId)).toEqual(record);
    await store.close();
  });

  it('the log is copied into the file in the background, and is gone once the store is closed', async () => {
    const store = await open();
    const { turn, ...rest } = await begun(store);
    const messages = Array.from({ length: 5000 }, (_, n) =>
      aMessage(turn.chatId, n + 2, { requestId: turn.requestId, props: { content: 'x'.repeat(2000) } }),
    );
    await store.write([anEnd({ turn, ...rest }, { messages })]);
    const beside = new Database(file.path);
    const [log, copied] = ['log', 'checkpointed'] as const;
    const look = () => (beside.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }])[0];
    expect(look()[log]).toBeGreaterThan(2000);
    while (look()[copied] < look()[log]) await new Promise((resolve) => setTimeout(resolve, 10));
    // The log starts anew with the next commit.
    await store.updateChat(turn.chatId, { title: 'x' }, at(1));
    expect(look()[log]).toBeLessThan(100);
    beside.close();
    await store.close();
    expect(existsSync(`${file.path}-wal`)).toBe(false);
  });

  it('the client opens no transaction on its own connection, in which other queries would run', async () => {
    await (await open()).close();
    const adapter = new PrismaConnectionFactory({ url: file.url, pragmas: [], share: new LoopShare(systemClock) });
    const client = new PrismaClient({ adapter });
    const reading = client.$transaction(async (transaction) => transaction.agentChat.count());
    await expect(reading).rejects.toThrow('Write transactions have a connection of their own');
    await client.$disconnect();
  });
});
