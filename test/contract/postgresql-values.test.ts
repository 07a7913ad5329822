import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../protocol/index.js';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import type { Store } from '../../server/ports/store.js';
import { connected, postgresDatabase, type PostgresDatabase } from '../harness/postgres-database.js';
import { describeOnPostgres, POSTGRES_URL } from '../harness/services.js';
import { sqliteFile } from './sqlite-file.js';
import { aChat, aMessage, aStep, aTurn, filterOf, stored } from './store/values.js';

describeOnPostgres('what PostgreSQL gives back is what SQLite gives back', () => {
  let database: PostgresDatabase;
  let file: Awaited<ReturnType<typeof sqliteFile>>;
  let postgres: Store;
  let sqlite: Store;
  beforeAll(async () => {
    database = postgresDatabase();
    file = await sqliteFile();
    const name = new URL(database.url).pathname.slice(1);
    // A cluster whose own order of text is that of a dictionary: a, A, ä, b, B.
    await connected(POSTGRES_URL, (admin) =>
      admin.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`),
    );
    const open = (url: string) => openPrismaStore({ url, clock: systemClock, ids: systemIds });
    [postgres, sqlite] = [await open(database.url), await open(file.url)];
  });
  afterAll(async () => {
    await Promise.all([postgres.close(), sqlite.close()]);
    await database.remove();
    await file.remove();
  });
  const stores = (): Store[] => [postgres, sqlite];

  it('chats of one moment are listed by their ids, byte by byte, whatever the locale of the cluster', async () => {
    const ids = [
      'b',
      'B',
      'a',
      'A',
      'ab',
      'aB',
      'Zoë',
      'zoe',
      'é',
      'e',
      'ß',
      'ss',
      '10',
      '9',
      '_',
      '-x',
      'x',
      '名',
      '😀',
      '\uffee',
    ];
    const inOrder = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const store of stores()) {
      for (const chatId of ids) await store.createChat(aChat({ chatId, createdBy: 'lister' }));
      for (const order of ['asc', 'desc'] as const) {
        const listed: string[] = [];
        for (let page = 1; page <= 7; page++) {
          const { data } = await store.listChats(
            filterOf({ anyOf: [{ createdBy: 'lister' }], order, page, pageSize: 3 }),
          );
          listed.push(...data.map(({ chatId }) => chatId));
        }
        expect(listed).toEqual(order === 'asc' ? inOrder : [...inOrder].reverse());
      }
    }
  });

  const deep = (depth: number): JsonObject => (depth === 0 ? {} : { in: [deep(depth - 1)] });
  it.each<[string, JsonObject]>([
    [
      'numbers at the edges',
      { list: [0, -1, 1.5, 0.1 + 0.2, 2 ** 53 - 1, -(2 ** 53), 1e21, 1e308, 1.7976931348623157e308, 5e-324, 1e-7] },
    ],
    [
      'keys of every kind',
      { '': 1, ' ': 2, a: 3, A: 4, ключ: 5, '😀': 6, '"\\/': 7, constructor: 8, '10': 9, '9': 10, $ref: 11 },
    ],
    ['text of every kind', { text: '\t\n\r\b\f\u0001\u007f\u2028\ufeff"\\/😀é' + 'x'.repeat(100_000) }],
    ['nothing in many forms', { null: null, object: {}, list: [], text: '', no: false, zero: 0 }],
    ['deep', deep(200)],
    ['wide', Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key ${index}`, [index]]))],
  ])('JSON comes back as it was: %s', async (_, value) => {
    for (const store of stores()) {
      const { chatId } = await stored(store, { metadata: value });
      const message = aMessage(chatId, 1, { props: value, metadata: value });
      await store.saveMessages(chatId, [message]);
      const step = aStep(aTurn(chatId), 1, { input: value, output: [value], spaceSnapshot: value, metadata: value });
      await store.saveSteps([step]);
      expect((await store.getChat(chatId))?.metadata).toEqual(value);
      expect(await store.getMessages(chatId, {})).toEqual([message]);
      expect(await store.getMessage(message.messageId)).toEqual(message);
      expect(await store.getSteps(step.step.requestId)).toEqual([step]);
    }
  });

  it('a value in a step that is no object comes back as it was', async () => {
    for (const value of ['', 'null', '"', 0, -1.5, true, false, [], [null], '😀', '{"a":1}']) {
      for (const store of stores()) {
        const { chatId } = await stored(store);
        const step = aStep(aTurn(chatId), 1, { input: value, output: value });
        await store.saveSteps([step]);
        expect(await store.getStep(step.step.stepId)).toEqual(step);
      }
    }
  });
});
