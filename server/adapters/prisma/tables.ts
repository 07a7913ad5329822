import type { Chat, Json, Message } from '../../../protocol/index.js';
import type { StepRecord, TurnRecord } from '../../ports/store.js';
import { timeIn } from './dialect.js';
import { foldTitle } from './title-search.js';
import { type Column, RowStatement, insert, upsert } from './upsert.js';

/**
 * What write transactions store: which columns, from where, and what happens to a row that is there already.
 */

/** Whose a row is, copied from its chat and turn. */
export interface Owner {
  readonly createdBy: string | null;
  readonly teamId: string | null;
  readonly tenantId: string | null;
}

type Owned = { readonly owner: Owner };

const time = (iso: string | null): string | null => (iso === null ? null : timeIn(iso));
const json = (value: Json): string | null => (value === null ? null : JSON.stringify(value));
const flag = (value: boolean): number => (value ? 1 : 0);

/** The owner's columns of messages, turns and steps. */
const ownerColumns: readonly Column<Owned>[] = [
  ['created_by', ({ owner }) => owner.createdBy],
  ['team_id', ({ owner }) => owner.teamId],
  ['tenant_id', ({ owner }) => owner.tenantId],
];
const ownerNames = ownerColumns.map(([name]) => name);

// Chats ---------------------------------------------------------------------------------------------------------------

export const titleSearchOf = (title: string | null): string | null => (title === null ? null : foldTitle(title));

const chatColumns: readonly Column<Chat>[] = [
  ['chat_id', (chat) => chat.chatId],
  ['title', (chat) => chat.title],
  ['title_search', (chat) => titleSearchOf(chat.title)],
  ['assistant_id', (chat) => chat.assistantId],
  ['mode', (chat) => chat.mode],
  ['status', (chat) => chat.status],
  ['preset', (chat) => flag(chat.preset)],
  ['public', (chat) => flag(chat.public)],
  ['share', (chat) => chat.share],
  ['sort', (chat) => chat.sort],
  ['last_message_at', (chat) => time(chat.lastMessageAt)],
  ['activity_at', (chat) => timeIn(chat.lastMessageAt ?? chat.createdAt)],
  ['last_sequence', () => 0],
  ['metadata', (chat) => json(chat.metadata)],
  ['created_by', (chat) => chat.createdBy],
  ['team_id', (chat) => chat.teamId],
  ['tenant_id', (chat) => chat.tenantId],
  ['created_at', (chat) => timeIn(chat.createdAt)],
  ['updated_at', (chat) => timeIn(chat.updatedAt)],
];

/** Refuses an id that was ever used. */
export const insertChat = insert('agent_chat', chatColumns);

// Messages ------------------------------------------------------------------------------------------------------------

export interface OwnedMessage extends Owned {
  readonly message: Message;
}

const messageColumns: readonly Column<OwnedMessage>[] = [
  ['message_id', ({ message }) => message.messageId],
  ['chat_id', ({ message }) => message.chatId],
  ['request_id', ({ message }) => message.requestId],
  ['role', ({ message }) => message.role],
  ['type', ({ message }) => message.type],
  ['props', ({ message }) => json(message.props)],
  ['block_id', ({ message }) => message.blockId],
  ['thread_id', ({ message }) => message.threadId],
  ['step_id', ({ message }) => message.stepId],
  ['assistant_id', ({ message }) => message.assistantId],
  ['sequence', ({ message }) => message.sequence],
  ['state', ({ message }) => message.state],
  ['metadata', ({ message }) => json(message.metadata)],
  ['created_at', ({ message }) => timeIn(message.createdAt)],
  ['updated_at', ({ message }) => timeIn(message.updatedAt)],
  ...ownerColumns,
];

/** A deleted message stays as it is; an id of another chat or turn is refused. */
export const upsertMessage = upsert('agent_message', messageColumns, {
  key: 'message_id',
  owner: ['chat_id', 'request_id'],
  keep: ownerNames,
  when: 'agent_message.deleted_at IS NULL',
});

export interface MessageDeletion {
  readonly messageId: string;
  readonly chatId: string;
  readonly at: string;
}

export const deleteMessage = new RowStatement<MessageDeletion>(
  'UPDATE agent_message SET deleted_at = ? WHERE message_id = ? AND chat_id = ? AND deleted_at IS NULL',
  [
    ['deleted_at', (deletion) => timeIn(deletion.at)],
    ['message_id', (deletion) => deletion.messageId],
    ['chat_id', (deletion) => deletion.chatId],
  ],
);

// Turns ---------------------------------------------------------------------------------------------------------------

export interface OwnedTurn extends Owned {
  readonly record: TurnRecord;
  readonly at: string;
}

const turnColumns: readonly Column<OwnedTurn>[] = [
  ['request_id', ({ record }) => record.turn.requestId],
  ['chat_id', ({ record }) => record.turn.chatId],
  ['assistant_id', ({ record }) => record.turn.assistantId],
  ['status', ({ record }) => record.turn.status],
  ['background', ({ record }) => flag(record.turn.background)],
  ['attempt', ({ record }) => record.turn.attempt],
  ['stop_reason', ({ record }) => record.turn.stopReason],
  ['error', ({ record }) => json(record.turn.error)],
  ['fingerprint', ({ record }) => record.fingerprint],
  ['usage', ({ record }) => json(record.turn.usage)],
  ['metadata', ({ record }) => json(record.turn.metadata)],
  ['root_stack_id', ({ record }) => record.rootStackId],
  ['regenerates', ({ record }) => record.regenerates],
  ['opened_by', ({ record }) => record.openedBy],
  ['created_at', ({ record }) => timeIn(record.turn.createdAt)],
  ['started_at', ({ record }) => time(record.turn.startedAt)],
  ['ended_at', ({ record }) => time(record.turn.endedAt)],
  ['updated_at', ({ at }) => timeIn(at)],
  ...ownerColumns,
];

/** An older attempt never changes a newer one. */
export const upsertTurn = upsert('agent_turn', turnColumns, {
  key: 'request_id',
  owner: ['chat_id', 'created_by', 'fingerprint'],
  keep: ['created_at', 'team_id', 'tenant_id'],
  when: 'agent_turn.deleted_at IS NULL AND agent_turn.attempt <= excluded.attempt',
});

// Steps ---------------------------------------------------------------------------------------------------------------

export interface OwnedStep extends Owned {
  readonly record: StepRecord;
}

const stepColumns: readonly Column<OwnedStep>[] = [
  ['step_id', ({ record }) => record.step.stepId],
  ['chat_id', ({ record }) => record.step.chatId],
  ['request_id', ({ record }) => record.step.requestId],
  ['assistant_id', ({ record }) => record.step.assistantId],
  ['stack_id', ({ record }) => record.step.stackId],
  ['stack_parent_id', ({ record }) => record.step.stackParentId],
  ['stack_depth', ({ record }) => record.step.stackDepth],
  ['type', ({ record }) => record.step.type],
  ['status', ({ record }) => record.step.status],
  ['input', ({ record }) => json(record.step.input)],
  ['output', ({ record }) => json(record.step.output)],
  ['space_snapshot', ({ record }) => json(record.step.spaceSnapshot)],
  ['error', ({ record }) => json(record.step.error)],
  ['sequence', ({ record }) => record.step.sequence],
  ['begin_order', ({ record }) => record.beginOrder],
  ['metadata', ({ record }) => json(record.step.metadata)],
  ['created_at', ({ record }) => timeIn(record.step.createdAt)],
  ['updated_at', ({ record }) => timeIn(record.step.updatedAt)],
  ...ownerColumns,
];

/** A completed step is never changed back. */
export const upsertStep = upsert('agent_step', stepColumns, {
  key: 'step_id',
  owner: ['chat_id', 'request_id'],
  keep: ownerNames,
  when: `agent_step.deleted_at IS NULL AND (agent_step.status <> 'completed' OR excluded.status = 'completed')`,
});
