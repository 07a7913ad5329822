import { ChatError, isEnded, type Turn, type TurnStatus } from '../../../protocol/index.js';
import type { TurnWrite } from '../../ports/store.js';
import { activityOf, raiseActivity } from './activity.js';
import type { Database } from './database.js';
import type { Sql } from './sql.js';
import { lockRequests } from './steps.js';
import { faultOf } from './storage-error.js';
import * as tables from './tables.js';

type Begin = Extract<TurnWrite, { kind: 'begin' }>;
type End = Extract<TurnWrite, { kind: 'end' }>;

/** TRN-8: the write transactions of turns, many of them in one where many come together. */
export async function writeTurns(database: Database, batch: readonly TurnWrite[]): Promise<void> {
  if (batch.length === 0) return;
  const chatIds = batch.map(({ record }) => record.turn.chatId);
  await database.transaction(chatIds, async (sql) => {
    await lockRequests(
      sql,
      batch.map(({ record }) => record.turn.requestId),
    );
    for (const write of batch) {
      const stored = await readStored(sql, write.record.turn);
      const chat = write.kind === 'begin' ? admitBegin(write, stored) : admitEnd(write, stored);
      if (chat) await store(sql, write, chat, stored.chat === null);
    }
  });
}

// What is there -------------------------------------------------------------------------------------------------------

interface Stored {
  readonly turn: {
    readonly chatId: string;
    readonly createdBy: string;
    readonly fingerprint: string;
    readonly attempt: number;
    readonly status: TurnStatus;
  } | null;
  /** Whether steps stand under its request id, of whatever chat. */
  readonly hasSteps: boolean;
  readonly chat: { readonly deleted: boolean; readonly teamId: string | null; readonly tenantId: string | null } | null;
}

const READ_TURN = 'SELECT chat_id, created_by, fingerprint, attempt, status FROM agent_turn WHERE request_id = ?';
const READ_STEP = 'SELECT id FROM agent_step WHERE request_id = ? LIMIT 1';
const READ_CHAT = 'SELECT deleted_at, team_id, tenant_id FROM agent_chat WHERE chat_id = ?';

async function readStored(sql: Sql, { requestId, chatId }: Turn): Promise<Stored> {
  const [[turn], [chat], steps] = await Promise.all([
    sql.query(READ_TURN, [requestId]),
    sql.query(READ_CHAT, [chatId]),
    sql.query(READ_STEP, [requestId]),
  ]);
  return {
    hasSteps: steps.length > 0,
    turn: turn
      ? {
          chatId: turn.chat_id as string,
          createdBy: turn.created_by as string,
          fingerprint: turn.fingerprint as string,
          attempt: turn.attempt as number,
          status: turn.status as TurnStatus,
        }
      : null,
    chat: chat
      ? {
          deleted: chat.deleted_at !== null,
          teamId: chat.team_id as string | null,
          tenantId: chat.tenant_id as string | null,
        }
      : null,
  };
}

/** Whether the stored turn is the one that is written, and not another that took its request id. */
function isSame({ record: { turn, fingerprint } }: TurnWrite, stored: NonNullable<Stored['turn']>): boolean {
  return stored.chatId === turn.chatId && stored.createdBy === turn.createdBy && stored.fingerprint === fingerprint;
}

// What may be written -------------------------------------------------------------------------------------------------

type Place = Pick<tables.Owner, 'teamId' | 'tenantId'>;

/**
 * The chat that the begin goes into, undefined where its turn has gone on since. Stored before, it may name later places
 * for its input: nobody has seen the earlier ones.
 * @throws {ChatError} conflict, not_found
 */
function admitBegin(write: Begin, stored: Stored): Place | undefined {
  const { turn } = write.record;
  const details = { requestId: turn.requestId };
  if (stored.turn) {
    if (!isSame(write, stored.turn)) throw new ChatError('conflict', 'This requestId is taken.', { details });
    if (!stored.chat || stored.chat.deleted) throw new ChatError('not_found', undefined, { details });
    const isStillQueued = stored.turn.attempt === turn.attempt && stored.turn.status === 'queued';
    return stored.turn.attempt < turn.attempt || isStillQueued ? stored.chat : undefined;
  }
  // Steps that a program recorded are no steps of a turn that begins now: it would go on from them, and number its own alike.
  if (stored.hasSteps) throw new ChatError('conflict', 'This requestId is taken.', { details });
  if (write.newChat) {
    if (stored.chat) throw new ChatError('conflict', 'This chatId is taken.', { details });
    return write.newChat;
  }
  if (!stored.chat || stored.chat.deleted) throw new ChatError('not_found', undefined, { details });
  return stored.chat;
}

/**
 * The chat that the end goes into, undefined where there is nothing to store.
 * @throws {ChatError} conflict
 */
function admitEnd(write: End, { turn: stored, chat }: Stored): Place | undefined {
  const { turn } = write.record;
  if (stored) {
    if (!isSame(write, stored)) {
      throw new ChatError('conflict', 'This requestId is taken.', { details: { requestId: turn.requestId } });
    }
    // Overtaken by a later attempt, or ended already: what came after this end must not be undone by it.
    if (stored.attempt > turn.attempt) return undefined;
    if (stored.attempt === turn.attempt && isEnded(stored.status)) return undefined;
  }
  // A chat that was deleted meanwhile takes its turn's end with it.
  return chat && !chat.deleted ? chat : undefined;
}

/** The id of a message that was deleted: what is sent under it again was seen, and cannot be stored under it. */
const DELETED = new Error('the id is that of a deleted message');

function mustBeStored(rows: number, kind: TurnWrite['kind']): void {
  if (rows === 0 && kind === 'end') throw DELETED;
}

// Writing -------------------------------------------------------------------------------------------------------------

async function store(sql: Sql, write: TurnWrite, { teamId, tenantId }: Place, isNewChat: boolean): Promise<void> {
  const { record, messages, at } = write;
  const { requestId, chatId, createdBy } = record.turn;
  const owner = { createdBy, teamId, tenantId };
  /** @throws {ChatError} `conflict` where the row that `id` names is another's, or was deleted */
  const storing = async (statement: Promise<unknown>, id: { messageId?: string; stepId?: string } = {}) => {
    try {
      await statement;
    } catch (error) {
      if (faultOf(error) !== 'taken' && error !== DELETED) throw error;
      throw new ChatError('conflict', 'An id or a sequence is taken.', { details: { requestId, ...id }, cause: error });
    }
  };
  const { newChat } = write.kind === 'begin' ? write : { newChat: null };
  const { deletedMessageIds, steps, lastSequence } =
    write.kind === 'end' ? write : { deletedMessageIds: [], steps: [], lastSequence: 0 };
  const statements: (() => Promise<unknown>)[] = [
    ...(newChat && isNewChat ? [() => storing(tables.insertChat.run(sql, newChat))] : []),
    () => storing(tables.upsertTurn.run(sql, { record, at, owner })),
    ...messages.map((message) => () => {
      const { messageId } = message;
      const stored = tables.upsertMessage.run(sql, { message, owner }).then((rows) => mustBeStored(rows, write.kind));
      return storing(stored, { messageId });
    }),
    ...deletedMessageIds.map((messageId) => () => tables.deleteMessage.run(sql, { messageId, chatId, at })),
    ...steps.map((record) => () => {
      const { stepId } = record.step;
      return storing(tables.upsertStep.run(sql, { record, owner }), { stepId });
    }),
    () => raiseActivity.run(sql, activityOf(chatId, messages, at, lastSequence)),
  ];
  await sql.each(statements, (send) => send());
}
