import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChatFilter, MessageQuery } from '../../server/ports/store.js';
import { connection } from '../harness/postgres-database.js';
import { describeOnPostgres } from '../harness/services.js';
import { openPostgresStore, type PostgresStore } from './postgres-database.js';
import { aBegin, aChat, aMessage, aRecord, aStep, aTurn, anEnd, at, filterOf } from './store/values.js';

/** A node of a plan, as EXPLAIN gives it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Enough that a look-up by the wrong index costs more than one by the right one. */
const ROWS = `
  INSERT INTO agent_chat (chat_id, assistant_id, mode, status, preset, public, share, sort, activity_at, last_sequence,
      created_by, team_id, tenant_id, created_at, updated_at)
    SELECT 'c' || n, 'echo', 'chat', 'active', false, n % 50 = 0, 'team', 0, now(), 9,
      'u' || n % 100, 't' || n % 100, CASE WHEN n % 2 = 0 THEN 'acme' END, now(), now() FROM generate_series(1, 2000) AS n;
  INSERT INTO agent_message (message_id, chat_id, request_id, role, type, block_id, thread_id, sequence, state, created_at,
      updated_at, props)
    SELECT 'm' || n, 'c' || n % 100, 'r' || n % 1000, 'user', 'text', 'b' || n % 1000, 'h' || n % 1000, n, 'closed', now(),
      now(), '{}' FROM generate_series(1, 5000) AS n;
  INSERT INTO agent_turn (request_id, chat_id, assistant_id, status, background, attempt, fingerprint, root_stack_id,
      created_by, created_at, updated_at)
    SELECT 'r' || n, 'c' || n % 100, 'a', (ARRAY['queued', 'running', 'completed', 'failed', 'interrupted'])[n % 5 + 1]::"TurnStatus", false, 1, '', '', 'u',
      now(), now() FROM generate_series(1, 5000) AS n;
  INSERT INTO agent_step (step_id, chat_id, request_id, assistant_id, stack_id, stack_depth, type, status, sequence,
      begin_order, created_at, updated_at)
    SELECT 's' || n, 'c' || n % 100, 'r' || n % 1000, 'a', 'k' || n % 1000, 0, 'llm', 'completed', n, n, now(), now()
    FROM generate_series(1, 5000) AS n;
  ANALYZE`;

describeOnPostgres('query plans on PostgreSQL', () => {
  let opened: PostgresStore;
  let planner: Client;
  beforeAll(async () => {
    opened = await openPostgresStore();
    planner = await connection(opened.url);
    await planner.query(ROWS);
    // What the planner still scans, it has no index for. A statement is planned once for all values.
    await planner.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
  });
  afterAll(async () => {
    await planner.end();
    await opened.close();
  });

  /** The nodes of the plan of each statement that `work` sends, under the statement's text. */
  async function plansOf(work: () => Promise<unknown>): Promise<Map<string, PlanNode[]>> {
    opened.statements.clear();
    await work();
    const plans = new Map<string, PlanNode[]>();
    for (const sql of opened.statements) {
      if (/^(BEGIN|COMMIT|ROLLBACK|SET)/.test(sql)) continue;
      await planner.query(`PREPARE asked AS ${sql}`);
      const count = new Set(sql.match(/\$\d+/g)).size;
      const values = count === 0 ? '' : `(${new Array<string>(count).fill('NULL').join(', ')})`;
      const { rows } = await planner.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE asked${values}`,
      );
      await planner.query('DEALLOCATE asked');
      plans.set(
        sql,
        rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan)),
      );
    }
    return plans;
  }
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  /** What walks through a table or an index, from one end to the other. */
  const walksIn = (plans: Map<string, PlanNode[]>): string[] =>
    [...plans].flatMap(([sql, nodes]) =>
      nodes
        .filter(
          (node) =>
            node['Node Type'] === 'Seq Scan' || (node['Index Name'] !== undefined && node['Index Cond'] === undefined),
        )
        .map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name']} IN ${sql}`),
    );
  const indexesIn = (plans: Map<string, PlanNode[]>): string[] => [
    ...new Set([...plans.values()].flat().flatMap((node) => node['Index Name'] ?? [])),
  ];
  const sortsIn = (plans: Map<string, PlanNode[]>): string[] =>
    [...plans.values()].flat().flatMap((node) => (/Sort/.test(node['Node Type']) ? node['Node Type'] : []));

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
      await store.takenMessageIds([message.messageId]);
      await store.updateMessage(message.messageId, { props: {} }, at(1));
      await store.deleteMessages(chatId, [message.messageId], at(1));
      await store.getTurn(requestId);
      await store.getTurns([requestId, 'another']);
      await store.listTurns(chatId, { limit: 5 });
      await store.listTurns(chatId, { limit: 5, incomplete: true, before: requestId });
      await store.queuedTurns();
      await store.chatOfRequest(requestId);
      await store.saveSteps([aStep(turn, 2)]);
      await store.updateStep(step.step.stepId, { output: 1 }, at(1));
      await store.updateStep('unknown', { status: 'failed' }, at(1)).catch(ignore);
      await store.getStep(step.step.stepId);
      await store.getSteps(requestId);
      await store.lastIncompleteStep(chatId);
      await store.getStepsByStack('stack');
      await store.chatsOfStack('stack');
      await store.getStackPath(chatId, 'stack');
      await store.takeChat(chatId, 'node-1', at(2));
      await store.fencesOf([chatId]);
      await store.deleteChat(chatId, at(2));
    });
    expect(plans.size).toBeGreaterThan(30);
    expect(walksIn(plans)).toEqual([]);
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
      expect([...walksIn(plans), ...sortsIn(plans)], JSON.stringify(query)).toEqual([]);
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
    expect([walksIn(plans), sortsIn(plans), indexesIn(plans)]).toEqual([[], [], ['idx_chat_mine']]);
  });

  it.each<[string, ChatFilter['anyOf'][number], string]>([
    ['mine', mine, 'idx_chat_mine'],
    ['the team’s', team, 'idx_chat_team'],
    ['public', everyone, 'idx_chat_public'],
    ['everything', { everything: true }, 'idx_chat_tenant'],
  ])('the list of chats is read in order from those of its scope, without sorting: %s', async (_, scope, index) => {
    for (const tenantId of [null, 'acme']) {
      for (const filter of [{}, { order: 'asc' }, { keywords: 'word' }] as const) {
        const plans = await plansOf(() => opened.store.listChats(filterOf({ tenantId, anyOf: [scope], ...filter })));
        expect(indexesIn(plans), JSON.stringify(filter)).toEqual([index]);
        expect([...walksIn(plans), ...sortsIn(plans)], JSON.stringify(filter)).toEqual([]);
      }
    }
  });

  it('a list of chats by whatever else, or of several scopes, looks up what it needs by an index', async () => {
    const filters: Partial<ChatFilter>[] = [
      { anyOf: [mine, team, everyone] },
      { status: 'active' },
      { assistantId: 'echo' },
      { status: 'active', assistantId: 'echo', keywords: 'word', startTime: at(0), endTime: at(1) },
      { orderBy: 'createdAt' },
      { orderBy: 'updatedAt', timeField: 'createdAt', startTime: at(0) },
    ];
    for (const tenantId of [null, 'acme']) {
      for (const filter of filters) {
        const plans = await plansOf(() => opened.store.listChats(filterOf({ tenantId, anyOf: [mine], ...filter })));
        expect(walksIn(plans), JSON.stringify(filter)).toEqual([]);
      }
    }
  });

  it('the turns of a chat are read in order, without sorting; of the queued ones only they are sorted', async () => {
    for (const query of [{ limit: 5 }, { limit: 5, incomplete: true }]) {
      const plans = await plansOf(() => opened.store.listTurns(chatId, query));
      expect(indexesIn(plans)).toEqual(['idx_turn_chat']);
      expect([...walksIn(plans), ...sortsIn(plans)]).toEqual([]);
    }
    expect(indexesIn(await plansOf(() => opened.store.queuedTurns()))).toEqual(['idx_turn_status']);
  });
});
