import type { Chat, Message, Step, Turn } from '../../../protocol/index.js';
import type { ChatFilter, StepRecord, Store, TurnRecord, TurnWrite } from '../../../server/ports/store.js';

/** A store under test with what its suite needs around it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Transactions done since the store was opened. */
  readonly transactions: { read: number; write: number };
  /** Another process takes the database's write lock, until the function it gives is called. */
  lock(): Promise<() => Promise<void>>;
  /** Milliseconds within which the store says that it is locked. */
  readonly lockSaidMs: number;
  /** Every text in a time column of any table, as it stands in the database. */
  storedTimes(): Promise<string[]>;
  /** Rows of these tables that belong to the chat and are not marked as deleted. */
  liveRows(chatId: string): Promise<number>;
  close(): Promise<void>;
}

const T0 = '2026-03-01T10:00:00.000Z';
/** `seconds` after T0. */
export const at = (seconds: number): string => new Date(Date.parse(T0) + seconds * 1000).toISOString();

let made = 0;
/** An id that no other test has. */
export const anId = (name: string): string => `${name}-${String(++made).padStart(6, '0')}`;

export const aChat = (fields: Partial<Chat> = {}): Chat => ({
  chatId: anId('chat'),
  title: null,
  assistantId: 'echo',
  mode: 'chat',
  status: 'active',
  preset: false,
  public: false,
  share: 'private',
  sort: 0,
  lastMessageAt: null,
  metadata: null,
  createdBy: 'alice',
  teamId: null,
  tenantId: null,
  createdAt: T0,
  updatedAt: T0,
  ...fields,
});

export const aMessage = (chatId: string, sequence: number, fields: Partial<Message> = {}): Message => ({
  messageId: anId('message'),
  chatId,
  requestId: null,
  role: 'assistant',
  type: 'text',
  props: { content: `message ${sequence}` },
  blockId: null,
  threadId: null,
  stepId: null,
  assistantId: 'echo',
  sequence,
  state: 'closed',
  metadata: null,
  createdAt: at(sequence),
  updatedAt: at(sequence),
  ...fields,
});

export const aTurn = (chatId: string, fields: Partial<Turn> = {}): Turn => ({
  requestId: anId('request'),
  chatId,
  assistantId: 'echo',
  status: 'queued',
  background: false,
  attempt: 1,
  stopReason: null,
  error: null,
  usage: null,
  metadata: null,
  createdBy: 'alice',
  createdAt: T0,
  startedAt: null,
  endedAt: null,
  ...fields,
});

export const aRecord = (turn: Turn, fields: Partial<TurnRecord> = {}): TurnRecord => ({
  turn,
  fingerprint: `fingerprint of ${turn.requestId}`,
  rootStackId: `stack-of-${turn.requestId}`,
  regenerates: null,
  openedBy: null,
  ...fields,
});

export const aStep = (turn: Turn, sequence: number, fields: Partial<Step> = {}): StepRecord => ({
  step: {
    stepId: anId('step'),
    chatId: turn.chatId,
    requestId: turn.requestId,
    assistantId: turn.assistantId,
    stackId: `stack-of-${turn.requestId}`,
    stackParentId: null,
    stackDepth: 0,
    type: 'llm',
    status: 'completed',
    input: null,
    output: null,
    spaceSnapshot: null,
    error: null,
    sequence,
    metadata: null,
    createdAt: T0,
    updatedAt: T0,
    ...fields,
  },
  beginOrder: sequence,
});

type Begin = Extract<TurnWrite, { kind: 'begin' }>;
type End = Extract<TurnWrite, { kind: 'end' }>;

export const aBegin = (record: TurnRecord, fields: Partial<Omit<Begin, 'kind' | 'record'>> = {}): Begin => ({
  kind: 'begin',
  record,
  messages: [],
  newChat: null,
  at: T0,
  ...fields,
});

/** The end of the turn as completed, unless `turn` says otherwise. */
export const anEnd = (
  record: TurnRecord,
  { turn, ...fields }: Partial<Omit<End, 'kind' | 'record'>> & { turn?: Partial<Turn> } = {},
): End => ({
  kind: 'end',
  record: { ...record, turn: { ...record.turn, status: 'completed', startedAt: at(1), endedAt: at(2), ...turn } },
  messages: [],
  deletedMessageIds: [],
  steps: [],
  lastSequence: 0,
  at: at(2),
  ...fields,
});

/** A chat with one turn that has begun with one message, and the record of it. */
export async function begun(store: Store, chat = aChat(), turn: Partial<Turn> = {}): Promise<TurnRecord> {
  const record = aRecord(aTurn(chat.chatId, turn));
  const input = aMessage(chat.chatId, 1, { role: 'user', requestId: record.turn.requestId, assistantId: null });
  await store.write([aBegin(record, { messages: [input], newChat: chat })]);
  return record;
}

/** The same, of a turn that was interrupted. */
export async function interrupted(store: Store): Promise<TurnRecord> {
  const record = await begun(store);
  const end = anEnd(record, { turn: { status: 'interrupted', stopReason: 'stopped' } });
  await store.write([end]);
  return end.record;
}

/** A stored chat of alice's. */
export async function stored(store: Store, fields: Partial<Chat> = {}): Promise<Chat> {
  const chat = aChat(fields);
  await store.createChat(chat);
  return chat;
}

export const filterOf = (fields: Partial<ChatFilter>): ChatFilter => ({
  tenantId: null,
  anyOf: [{ everything: true }],
  page: 1,
  pageSize: 20,
  ...fields,
});

export const sequences = (list: readonly { sequence: number }[]): number[] => list.map(({ sequence }) => sequence);
