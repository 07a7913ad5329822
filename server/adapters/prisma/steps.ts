import { ChatError, type Step } from '../../../protocol/index.js';
import type { StepPatch, StepRecord } from '../../ports/store.js';
import { ownerIn } from './chats.js';
import type { Database } from './database.js';
import type { Dialect } from './dialect.js';
import type { AgentStepUpdateInput } from './generated/sqlite/models.js';
import { jsonPatch } from './json-columns.js';
import { stepOf, stepRecordOf } from './rows.js';
import type { Sql } from './sql.js';
import * as tables from './tables.js';

/** @throws {ChatError} not_found for a chat that is not there; conflict for an id or a sequence of another step */
export async function saveSteps(database: Database, steps: readonly StepRecord[]): Promise<void> {
  if (steps.length === 0) return;
  const chatIds = steps.map(({ step }) => step.chatId);
  await database.transaction(chatIds, async (sql) => {
    await mustBeOfOneChat(sql, steps);
    const owners = new Map<string, tables.Owner>();
    for (const { step } of steps)
      if (!owners.has(step.chatId)) owners.set(step.chatId, await ownerIn(sql, step.chatId));
    await sql.each(steps, async (record) => {
      const owner = owners.get(record.step.chatId);
      if (owner) await tables.upsertStep.run(sql, { record, owner });
    });
  });
}

/**
 * Of those who take a request id at once, one after the other looks whether it is free: its rows stand in two tables, so
 * that no unique key says it. In one order, whatever that of the rows: two never wait for each other.
 */
export async function lockRequests(sql: Sql, requestIds: readonly string[]): Promise<void> {
  const { lockText } = sql.dialect;
  if (lockText === null) return;
  await sql.each([...new Set(requestIds)].sort(), (requestId) => sql.query(lockText, [requestId]));
}

/** A request is of one chat, also where two of them save at once. @throws {ChatError} conflict */
async function mustBeOfOneChat(sql: Sql, steps: readonly StepRecord[]): Promise<void> {
  const chats = new Map(steps.map(({ step }) => [step.requestId, step.chatId]));
  await lockRequests(sql, [...chats.keys()]);
  for (const [requestId, chatId] of chats) {
    const others = await sql.query(
      'SELECT id FROM agent_turn WHERE request_id = ? AND chat_id <> ? ' +
        'UNION ALL SELECT id FROM agent_step WHERE request_id = ? AND chat_id <> ? LIMIT 1',
      [requestId, chatId, requestId, chatId],
    );
    if (others.length > 0) throw new ChatError('conflict', 'This requestId is taken.', { details: { requestId } });
  }
}

export async function updateStep(database: Database, stepId: string, patch: StepPatch, at: string): Promise<Step> {
  const { status, output, error, spaceSnapshot, metadata } = patch;
  const data = {
    status,
    output: jsonPatch(output),
    error: jsonPatch(error),
    spaceSnapshot: jsonPatch(spaceSnapshot),
    metadata: jsonPatch(metadata),
    updatedAt: at,
  } as AgentStepUpdateInput;
  // A completed step is never changed back: such a patch finds no row, and the step is given as it is.
  const where = {
    stepId,
    deletedAt: null,
    ...(status && status !== 'completed' ? { status: { not: 'completed' as const } } : {}),
  };
  const [row] = await database.writeIn(
    async (client) => (await client.agentStep.findFirst({ where: { stepId }, select: { chatId: true } }))?.chatId,
    (client) => client.agentStep.updateManyAndReturn({ where, data }),
  );
  if (row) return stepOf(row);
  const unchanged = await database.read((client) => client.agentStep.findFirst({ where: { stepId, deletedAt: null } }));
  if (!unchanged) throw new ChatError('not_found');
  return stepOf(unchanged);
}

export async function getStep(database: Database, stepId: string): Promise<StepRecord | null> {
  const row = await database.read((client) => client.agentStep.findFirst({ where: { stepId, deletedAt: null } }));
  return row && stepRecordOf(row);
}

export function getSteps(database: Database, requestId: string): Promise<StepRecord[]> {
  return readSteps(database, 'request_id', requestId);
}

export function getStepsByStack(database: Database, stackId: string): Promise<StepRecord[]> {
  return readSteps(database, 'stack_id', stackId);
}

export async function chatsOfStack(database: Database, stackId: string): Promise<string[]> {
  const rows = await database.read((_client, select) =>
    select<{ chatId: string }>(
      'SELECT DISTINCT chat_id AS "chatId" FROM agent_step WHERE stack_id = ? AND deleted_at IS NULL',
      [stackId],
    ),
  );
  return rows.map(({ chatId }) => chatId);
}

/** Steps, and bytes that they hold, that one statement reads: so that no turn's steps hold the event loop at a stretch. */
const READ_CHUNK = 250;
const READ_BYTES = 512 * 1024;

const bytesOf = ({ octets }: Dialect): string =>
  ['input', 'output', 'space_snapshot', 'error', 'metadata'].map(octets).join(' + ');

function readSteps(database: Database, column: 'request_id' | 'stack_id', id: string): Promise<StepRecord[]> {
  return database.read(async (client, select) => {
    const sizes = await select<{ id: number; bytes: bigint }>(
      `SELECT id, ${bytesOf(database.dialect)} AS bytes FROM agent_step WHERE ${column} = ? AND deleted_at IS NULL ORDER BY sequence`,
      [id],
    );
    const records: StepRecord[] = [];
    for (let from = 0, to = 0; from < sizes.length; from = to) {
      let bytes = 0;
      while (to < sizes.length && to - from < READ_CHUNK && (to === from || bytes < READ_BYTES)) {
        bytes += Number(sizes[to++]?.bytes);
      }
      const ids = sizes.slice(from, to).map((row) => row.id);
      const rows = await client.agentStep.findMany({ where: { id: { in: ids } }, orderBy: { sequence: 'asc' } });
      for (const row of rows) records.push(stepRecordOf(row));
    }
    return records;
  });
}

/** The one begun last, of those that ended incomplete and those of them that run again. */
const NEWEST_INCOMPLETE =
  'SELECT id FROM agent_turn WHERE chat_id = ? AND deleted_at IS NULL ' +
  "AND (status IN ('interrupted', 'failed') OR (status <> 'completed' AND attempt > 1)) " +
  'ORDER BY deleted_at DESC, id DESC LIMIT 1';

/** Where there is no such turn: of steps that stand without a turn, those of the request that was stored last. */
const lastIncomplete = ({ isTrue }: Dialect): string =>
  'SELECT s.step_id AS "stepId" FROM agent_step s LEFT JOIN agent_turn t ON t.request_id = s.request_id ' +
  `WHERE s.chat_id = ? AND s.deleted_at IS NULL AND s.status IN ('pending', 'running', 'failed', 'interrupted') ` +
  `AND NOT ${isTrue('s.metadata', 'handled')} AND t.id IS NOT DISTINCT FROM (${NEWEST_INCOMPLETE}) ` +
  'ORDER BY min(s.id) OVER (PARTITION BY s.request_id) DESC, s.stack_depth DESC, s.sequence DESC LIMIT 1';

export async function lastIncompleteStep(database: Database, chatId: string): Promise<Step | null> {
  const row = await database.read(async (client, select) => {
    const [found] = await select<{ stepId: string }>(lastIncomplete(database.dialect), [chatId, chatId]);
    return found ? client.agentStep.findFirst({ where: { stepId: found.stepId } }) : null;
  });
  return row && stepOf(row);
}

/** More hops than any stack has frames; a cycle in the data ends here at the latest. */
const MAX_HOPS = 256;

const CLIMB =
  'WITH RECURSIVE climb (stack_id, hops) AS (SELECT CAST(? AS text), 0 UNION ALL SELECT (' +
  'SELECT s.stack_parent_id FROM agent_step s WHERE s.stack_id = climb.stack_id AND s.chat_id = ? ' +
  `AND s.stack_parent_id IS NOT NULL AND s.deleted_at IS NULL ORDER BY s.id LIMIT 1), hops + 1 FROM climb WHERE climb.stack_id IS NOT NULL AND hops < ${MAX_HOPS}) ` +
  'SELECT stack_id AS "stackId" FROM climb WHERE stack_id IS NOT NULL ORDER BY hops';

export async function getStackPath(database: Database, chatId: string, stackId: string): Promise<string[]> {
  const rows = await database.read((_client, select) => select<{ stackId: string }>(CLIMB, [stackId, chatId]));
  const path = new Set<string>();
  for (const row of rows) {
    if (path.has(row.stackId)) break;
    path.add(row.stackId);
  }
  return [...path].reverse();
}
