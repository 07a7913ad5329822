import type { Chat, Json, JsonObject, Message, Step, StopReason, Turn } from '../../../protocol/index.js';
import type { StepRecord, TurnRecord } from '../../ports/store.js';
import type { AgentChatModel, AgentMessageModel, AgentStepModel, AgentTurnModel } from './generated/sqlite/models.js';

/**
 * Rows of the database as protocol values. What is stored was parsed when it came in, so JSON columns are taken at
 * their word.
 */

const iso = (time: Date): string => time.toISOString();
const isoOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The columns of a raw query, under the names that the client gives them. */
const select = (columns: string): string =>
  columns
    .split(' ')
    .map((column) => `${column} AS "${column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}"`)
    .join(', ');

export const CHAT_COLUMNS = select(
  'chat_id title assistant_id mode status preset public share sort last_message_at metadata created_by team_id tenant_id created_at updated_at',
);
/** Without props and metadata. */
export const MESSAGE_COLUMNS = select(
  'message_id chat_id request_id role type block_id thread_id step_id assistant_id sequence state created_at updated_at',
);

export type ChatRow = Omit<
  AgentChatModel,
  'id' | 'titleSearch' | 'activityAt' | 'lastSequence' | 'updatedBy' | 'deletedAt'
>;

export function chatOf(row: ChatRow): Chat {
  return {
    chatId: row.chatId,
    title: row.title,
    assistantId: row.assistantId,
    mode: row.mode,
    status: row.status,
    preset: row.preset,
    public: row.public,
    share: row.share,
    sort: row.sort,
    lastMessageAt: isoOrNull(row.lastMessageAt),
    metadata: row.metadata as JsonObject | null,
    createdBy: row.createdBy,
    teamId: row.teamId,
    tenantId: row.tenantId,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export type MessageRow = Omit<
  AgentMessageModel,
  'id' | 'createdBy' | 'updatedBy' | 'teamId' | 'tenantId' | 'deletedAt'
>;

export function messageOf(row: MessageRow): Message {
  return {
    messageId: row.messageId,
    chatId: row.chatId,
    requestId: row.requestId,
    role: row.role,
    type: row.type,
    props: row.props as JsonObject,
    blockId: row.blockId,
    threadId: row.threadId,
    stepId: row.stepId,
    assistantId: row.assistantId,
    sequence: row.sequence,
    state: row.state,
    metadata: row.metadata as JsonObject | null,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export function turnRecordOf(row: AgentTurnModel): TurnRecord {
  return {
    turn: {
      requestId: row.requestId,
      chatId: row.chatId,
      assistantId: row.assistantId,
      status: row.status,
      background: row.background,
      attempt: row.attempt,
      stopReason: row.stopReason as StopReason | null,
      error: row.error as Turn['error'],
      usage: row.usage as Json,
      metadata: row.metadata as JsonObject | null,
      createdBy: row.createdBy,
      createdAt: iso(row.createdAt),
      startedAt: isoOrNull(row.startedAt),
      endedAt: isoOrNull(row.endedAt),
    },
    fingerprint: row.fingerprint,
    rootStackId: row.rootStackId,
    regenerates: row.regenerates,
    openedBy: row.openedBy,
  };
}

export function stepOf(row: AgentStepModel): Step {
  return {
    stepId: row.stepId,
    chatId: row.chatId,
    requestId: row.requestId,
    assistantId: row.assistantId,
    stackId: row.stackId,
    stackParentId: row.stackParentId,
    stackDepth: row.stackDepth,
    type: row.type,
    status: row.status,
    input: row.input as Json,
    output: row.output as Json,
    spaceSnapshot: row.spaceSnapshot as JsonObject | null,
    error: row.error as Json,
    sequence: row.sequence,
    metadata: row.metadata as JsonObject | null,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export const stepRecordOf = (row: AgentStepModel): StepRecord => ({ step: stepOf(row), beginOrder: row.beginOrder });
