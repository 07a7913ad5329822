import type { JsonObject, Message as MessageRow, Role, SavedMessage } from '../../protocol/index.js';
import { invalid, mustBeGiven } from './error.js';
import { given } from './given.js';
import { momentOf, type Moment } from './time.js';

/** A message in the seed's form: what is not there is left out. */
export interface Message {
  /** The number of its row, for `beforeId`: its sequence. */
  readonly id: number;
  readonly messageId: string;
  readonly chatId: string;
  readonly requestId?: string;
  readonly role: Role;
  readonly type: string;
  readonly props: JsonObject;
  readonly blockId?: string;
  readonly threadId?: string;
  readonly assistantId?: string;
  /** One row of numbers in each chat, whatever the request. */
  readonly sequence: number;
  readonly metadata?: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A message to save; of its chat and sequence the store decides, whatever it says of them itself. */
export interface NewMessage {
  /** Default: a new one. The same message again, under the same id, adds nothing. */
  readonly messageId?: string | null;
  readonly requestId?: string | null;
  readonly role: string;
  /** Any but `event`, which is no message but a signal. */
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
  readonly blockId?: string | null;
  readonly threadId?: string | null;
  readonly assistantId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  /** For showing; the order is that of saving. Default: now. */
  readonly createdAt?: Moment | null;
}

export function messageOf(row: MessageRow): Message {
  const { requestId, blockId, threadId, assistantId, metadata, stepId: _stepId, state: _state, ...rest } = row;
  return { id: row.sequence, ...rest, ...given({ requestId, blockId, threadId, assistantId, metadata }) };
}

/** @throws {YaoStoreError} `bad_request` for one without role, type or props */
export function savedMessageOf(message: NewMessage): SavedMessage {
  const { role, type, props, createdAt } = message;
  mustBeGiven(role, 'role');
  mustBeGiven(type, 'type');
  if ((props as unknown) === undefined || (props as unknown) === null) throw invalid('props is required');
  const { messageId, requestId, blockId, threadId, assistantId, metadata } = message;
  return {
    ...given({ messageId, requestId, blockId, threadId, assistantId, metadata }),
    role,
    type,
    props,
    ...(createdAt ? { createdAt: momentOf(createdAt, 'created_at') } : {}),
  } as SavedMessage; // Of which role, and how deep the props are, is for the schema to judge.
}
