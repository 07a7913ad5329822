import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import type { Store } from '../../server/ports/store.js';
import { connection, postgresDatabase, type PostgresDatabase } from '../harness/postgres-database.js';
import { describeOnPostgres } from '../harness/services.js';
import { until } from '../harness/until.js';
import {
  aBegin,
  aChat,
  aMessage,
  anEnd,
  anId,
  aRecord,
  aStep,
  at,
  aTurn,
  begun,
  sequences,
  stored,
} from './store/values.js';

describeOnPostgres('several writers on one PostgreSQL database', { timeout: 60_000 }, () => {
  let database: PostgresDatabase;
  let one: Store;
  let two: Store;
  let beside: Client;
  beforeAll(async () => {
    database = postgresDatabase();
    const open = () =>
      openPrismaStore({ url: database.url, clock: systemClock, ids: systemIds, lockWaitMs: 30_000, connections: 20 });
    [one, two] = [await open(), await open()];
    beside = await connection(database.url);
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await beside.end();
    await database.remove();
  });

  /** What came of each: `stored`, or the code of its refusal. */
  const outcomes = (works: readonly Promise<unknown>[]): Promise<string[]> =>
    Promise.all(
      works.map((work) =>
        work.then(
          () => 'stored',
          (error: { code: string }) => error.code,
        ),
      ),
    );
  const both = <T>(work: (store: Store, which: number) => T): T[] => [one, two].map(work);

  it('batches over the same chats in any order: nothing is lost, and none waits for another in a circle', async () => {
    const chats = await Promise.all(Array.from({ length: 6 }, () => stored(one)));
    const writing: Promise<unknown>[] = [];
    const begun: string[] = [];
    for (let round = 0; round < 40; round++) {
      both((store, which) => {
        // Every second batch has its chats in the opposite order.
        const order = (round + which) % 2 === 0 ? chats : [...chats].reverse();
        const records = order.map(({ chatId }) => aRecord(aTurn(chatId)));
        begun.push(...records.map(({ turn }) => turn.requestId));
        const messages = (chatId: string, requestId: string) => [
          aMessage(chatId, round * 2 + which + 1, { requestId }),
        ];
        writing.push(
          store
            .write(
              records.map((record) =>
                aBegin(record, { messages: messages(record.turn.chatId, record.turn.requestId) }),
              ),
            )
            .then(() =>
              store.write(records.map((record) => anEnd(record, { steps: [aStep(record.turn, 1)] })).reverse()),
            ),
        );
        const chatId = chats[round % chats.length]?.chatId ?? '';
        writing.push(store.updateChat(chatId, { title: `${round}` }, at(round)));
        writing.push(store.saveMessages(chatId, [aMessage(chatId, 1000 + round * 2 + which)]));
      });
    }
    expect(new Set(await outcomes(writing))).toEqual(new Set(['stored']));
    const turns = await two.getTurns(begun);
    expect(turns.filter(({ turn }) => turn.status === 'completed')).toHaveLength(begun.length);
    for (const { chatId } of chats) {
      const messages = await one.getMessages(chatId, { before: 1000 });
      expect(sequences(messages)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    }
    expect(await Promise.all(chats.map(({ chatId }) => one.getMessages(chatId, { after: 999 })))).toHaveLength(6);
  });

  it('the same request ids in two chats, in opposite order, are no circle either', async () => {
    for (let round = 0; round < 20; round++) {
      const ids = Array.from({ length: 5 }, () => anId('request'));
      const chats = await Promise.all(both((store) => stored(store)));
      const begins = await outcomes(
        both((store, which) => {
          const chatId = chats[which]?.chatId ?? '';
          const order = which === 0 ? ids : [...ids].reverse();
          return store.write(order.map((requestId) => aBegin(aRecord(aTurn(chatId, { requestId })))));
        }),
      );
      expect(begins.sort()).toEqual(['conflict', 'stored']);
      const steps = Array.from({ length: 5 }, () => anId('request'));
      const saves = await outcomes(
        both((store, which) => {
          const chatId = chats[which]?.chatId ?? '';
          const order = which === 0 ? steps : [...steps].reverse();
          return store.saveSteps(order.map((requestId) => aStep(aTurn(chatId, { requestId }), 1)));
        }),
      );
      expect(saves.sort()).toEqual(['conflict', 'stored']);
    }
  });

  it('the same message ids in two chats, in opposite order: the one that the database undoes is done again', async () => {
    const ids = Array.from({ length: 300 }, () => anId('message'));
    const chats = await Promise.all(both((store) => stored(store)));
    const saves = await outcomes(
      both((store, which) => {
        const chatId = chats[which]?.chatId ?? '';
        const order = which === 0 ? ids : [...ids].reverse();
        return store.saveMessages(
          chatId,
          order.map((messageId, index) => aMessage(chatId, index + 1, { messageId })),
        );
      }),
    );
    expect(saves.sort()).toEqual(['conflict', 'stored']);
  });

  it('a request id is of one chat, whoever takes it first: a turn begun or steps saved', async () => {
    type Taking = (store: Store, chatId: string, requestId: string) => Promise<unknown>;
    const begin: Taking = (store, chatId, requestId) => store.write([aBegin(aRecord(aTurn(chatId, { requestId })))]);
    const save: Taking = (store, chatId, requestId) => store.saveSteps([aStep(aTurn(chatId, { requestId }), 1)]);
    const pairs = [
      [begin, begin],
      [begin, save],
      [save, begin],
      [save, save],
    ] as const;
    for (let round = 0; round < 10; round++) {
      for (const pair of pairs) {
        const requestId = anId('request');
        const chats = await Promise.all(both((store) => stored(store)));
        const taken = await outcomes(both((store, which) => pair[which]!(store, chats[which]!.chatId, requestId)));
        expect([...taken].sort()).toEqual(['conflict', 'stored']);
        expect(await one.chatOfRequest(requestId)).toBe(chats[taken.indexOf('stored')]?.chatId);
      }
    }
  });

  it('one chat id, one message id, one sequence taken by both: one of them has it', async () => {
    for (let round = 0; round < 10; round++) {
      const chat = aChat();
      expect((await outcomes(both((store) => store.createChat(chat)))).sort()).toEqual(['conflict', 'stored']);
      const messages = both((_, which) => aMessage(chat.chatId, 1, { props: { content: which } }));
      const saves = await outcomes(both((store, which) => store.saveMessages(chat.chatId, [messages[which]!])));
      expect(saves.sort()).toEqual(['conflict', 'stored']);
      expect(await one.getMessages(chat.chatId, {})).toHaveLength(1);
    }
  });

  it('a transaction whose connection is broken leaves nothing, is storage_unavailable, and the next one is stored', async () => {
    const { turn, ...rest } = await begun(one);
    const end = anEnd({ turn, ...rest }, { messages: [aMessage(turn.chatId, 2)], steps: [aStep(turn, 1)] });
    // It comes as far as the steps, and waits there.
    await beside.query('BEGIN; LOCK TABLE agent_step IN EXCLUSIVE MODE');
    const writing = outcomes([one.write([end])]);
    const waiting = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'turnstream' AND wait_event_type = 'Lock'`;
    await until(async () => (await beside.query(waiting)).rowCount, 'the transaction to wait');
    await beside.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`);
    expect(await writing).toEqual(['storage_unavailable']);
    await beside.query('COMMIT');
    expect(await two.getMessages(turn.chatId, {})).toHaveLength(1);
    expect((await two.getTurn(turn.requestId))?.turn.status).toBe('queued');
    await one.write([end]);
    expect((await two.getTurn(turn.requestId))?.turn.status).toBe('completed');
    expect(await two.getSteps(turn.requestId)).toHaveLength(1);
  });

  it('connections that were broken while nobody used them are replaced: nobody is told', async () => {
    await Promise.all([one.ping(), stored(one)]);
    await beside.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'turnstream'`,
    );
    const gone = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'turnstream'`;
    await until(async () => (await beside.query(gone)).rowCount === 0, 'the connections to be gone');
    // The ends of the sockets are read with the next turn of the event loop.
    await until(
      () =>
        one.ping().then(
          () => true,
          () => false,
        ),
      'reads again',
    );
    const chat = await stored(one);
    expect(await two.getChat(chat.chatId)).toEqual(chat);
  });
});
