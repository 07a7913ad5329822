import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatFilter, MessageQuery } from '../../server/ports/store.js';
import { openSqliteStore, type SqliteStore } from './sqlite-file.js';
import { aBegin, aChat, aMessage, aRecord, aStep, aTurn, anEnd, at, filterOf } from './store/values.js';

let opened: SqliteStore;
let planner: Database.Database;

beforeAll(async () => {
  opened = await openSqliteStore();
  planner = new Database(opened.path, { readonly: true });
});
afterAll(async () => {
  planner.close();
  await opened.close();
});

/** The plan of each statement that `work` sends, line by line, under the statement's text. */
async function plansOf(work: () => Promise<unknown>): Promise<Map<string, string[]>> {
  opened.statements.clear();
  await work();
  const plans = new Map<string, string[]>();
  for (const sql of opened.statements) {
    if (/^(BEGIN|COMMIT|ROLLBACK|PRAGMA)/.test(sql)) continue;
    const parameters = new Array<null>((sql.match(/\?/g) ?? []).length).fill(null);
    const lines = planner.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
    plans.set(
      sql,
      lines.map(({ detail }) => detail),
    );
  }
  return plans;
}

/** What may be walked through: lists that the statement itself has made. */
const OWN_LISTS = /^SCAN (CONSTANT ROW|new|climb|counted|\(subquery-\d+\))/;

const scansIn = (plans: Map<string, string[]>): string[] =>
  [...plans].flatMap(([sql, lines]) =>
    lines.filter((line) => line.startsWith('SCAN') && !OWN_LISTS.test(line)).map((line) => `${line} IN ${sql}`),
  );

/** The indexes that the plans look things up in. */
const indexesIn = (plans: Map<string, string[]>): string[] => {
  const lines = [...plans.values()].flat();
  return [
    ...new Set(
      lines.flatMap((line) => /^SEARCH .*(?:INDEX (\w+)|(PRIMARY KEY))/.exec(line)?.slice(1).filter(Boolean) ?? []),
    ),
  ];
};

const sortsIn = (plans: Map<string, string[]>): string[] =>
  [...plans.values()].flat().filter((line) => line.includes('TEMP B-TREE'));

describe('query plans on SQLite', () => {
  const chatId = 'chat-1';
  const { turn } = aRecord(aTurn(chatId));

  it('every statement of the store looks up what it needs by an index', async () => {
    const { store } = opened;
    const ignore = (): void => {};
    const record = aRecord(turn);
    const { requestId } = turn;
    const message = aMessage(chatId, 2, { requestId });
    const step = aStep(turn, 1, { status: 'interrupted' });
    const plans = await plansOf(async () => {
      await store.write([
        aBegin(record, { newChat: aChat({ chatId }), messages: [aMessage(chatId, 1, { requestId })] }),
      ]);
      await store.write([anEnd(record, { messages: [message], steps: [step], deletedMessageIds: ['gone'] })]);
      await store.createChat(aChat());
      await store.getChat(chatId);
      await store.isChatIdTaken(chatId);
      await store.updateChat(chatId, { title: 'x', metadata: {} }, at(1));
      await store.nextSequence(chatId);
      await store.saveMessages(chatId, [aMessage(chatId, 3)]);
      await store.getMessages(chatId, {});
      await store.getMessage(message.messageId);
      await store.updateMessage(message.messageId, { props: {} }, at(1));
      await store.deleteMessages(chatId, [message.messageId], at(1));
      await store.getTurn(requestId);
      await Promise.all([store.getTurn('a'), store.getTurn('b'), store.getChat('c'), store.getChat('d')]);
      await store.getTurns([requestId, 'another']);
      await store.listTurns(chatId, { limit: 5 });
      await store.listTurns(chatId, { limit: 5, incomplete: true, before: requestId });
      await store.queuedTurns();
      await store.chatOfRequest(requestId);
      await store.saveSteps([aStep(turn, 2)]);
      await store.updateStep(step.step.stepId, { output: 1 }, at(1));
      await store.updateStep('unknown', { status: 'failed' }, at(1)).catch(ignore);
      await store.getSteps(requestId);
      await store.lastIncompleteStep(chatId);
      await store.getStepsByStack('stack');
      await store.getStackPath(chatId, 'stack');
      await store.deleteChat(chatId, at(2));
    });
    expect(plans.size).toBeGreaterThan(30);
    expect(scansIn(plans)).toEqual([]);
  });

  it.each<[string, MessageQuery[]]>([
    [
      'idx_msg_chat_seq',
      [
        {},
        { limit: 50 },
        { limit: 50, before: 9 },
        { limit: 50, after: 9 },
        { after: 1, before: 9 },
        { limit: 5, offset: 5 },
        { role: 'user', limit: 50 },
        { type: 'text', limit: 50 },
      ],
    ],
    [
      'idx_msg_request',
      [{ requestId: 'x' }, { requestId: 'x', limit: 50, before: 9 }, { requestId: 'x', role: 'user' }],
    ],
    ['idx_msg_block', [{ blockId: 'x' }, { blockId: 'x', limit: 50, before: 9 }]],
    ['idx_msg_thread', [{ threadId: 'x' }, { threadId: 'x', limit: 50, after: 9 }]],
  ])('a page of messages is read from %s in order, without sorting', async (index, queries) => {
    for (const query of queries) {
      const plans = await plansOf(() => opened.store.getMessages(chatId, query));
      expect(indexesIn(plans), JSON.stringify(query)).toEqual([index]);
      expect([...scansIn(plans), ...sortsIn(plans)]).toEqual([]);
    }
  });

  const mine = { createdBy: 'alice' } as const;
  const team = { teamId: 'blue', share: 'team' } as const;
  const everyone = { public: true } as const;

  it('the count of somebody’s chats walks through theirs only', async () => {
    const plans = await plansOf(async () => {
      await opened.store.countChats({ tenantId: 'acme', createdBy: 'alice' }, 10);
      await opened.store.countChats({ tenantId: null, createdBy: 'alice' }, 10);
    });
    expect([scansIn(plans), sortsIn(plans), indexesIn(plans)]).toEqual([[], [], ['idx_chat_mine']]);
  });

  it.each<[string, ChatFilter['anyOf'], string[]]>([
    ['mine', [mine], ['idx_chat_mine']],
    ['the team’s', [team], ['idx_chat_team']],
    ['public', [everyone], ['idx_chat_public']],
    ['everything', [{ everything: true }], ['idx_chat_tenant']],
    ['mine, the team’s and public', [mine, team, everyone], ['idx_chat_mine', 'idx_chat_team', 'idx_chat_public']],
  ])('the list of chats reads those of its scope only: %s', async (_, anyOf, indexes) => {
    const filters: Partial<ChatFilter>[] = [
      {},
      { order: 'asc' },
      { keywords: 'word' },
      { status: 'active' },
      { assistantId: 'echo' },
      { status: 'active', assistantId: 'echo', keywords: 'word', startTime: at(0), endTime: at(1) },
      { orderBy: 'createdAt' },
      { orderBy: 'updatedAt', timeField: 'createdAt', startTime: at(0) },
    ];
    for (const tenantId of [null, 'acme']) {
      for (const filter of filters) {
        const plans = await plansOf(() => opened.store.listChats(filterOf({ tenantId, anyOf, ...filter })));
        expect(indexesIn(plans), JSON.stringify(filter)).toEqual(indexes);
        expect(scansIn(plans)).toEqual([]);
        if (anyOf.length === 1 && filter.orderBy === undefined) expect(sortsIn(plans)).toEqual([]);
      }
    }
  });

  it('the turns of a chat and the queued turns are read in order, without sorting', async () => {
    for (const [index, work] of [
      ['idx_turn_chat', () => opened.store.listTurns(chatId, { limit: 5 })],
      ['idx_turn_chat', () => opened.store.listTurns(chatId, { limit: 5, incomplete: true })],
      ['idx_turn_status', () => opened.store.queuedTurns()],
      ['idx_step_request', () => opened.store.getSteps('x')],
    ] as const) {
      const plans = await plansOf(work);
      expect(indexesIn(plans)).toEqual([index]);
      expect(sortsIn(plans)).toEqual([]);
    }
  });
});
