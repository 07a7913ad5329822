import type { Message, Turn } from '../../protocol/index.js';
import type { Row, StoreBeside } from '../harness/store-beside.js';

/** What is stored, read from the database itself and not through the server. */

/** A message as its row has it: without times, which have a form of their own there. */
export type StoredMessage = Omit<Message, 'createdAt' | 'updatedAt' | 'chatId'>;

type StoredTurn = Pick<Turn, 'requestId' | 'chatId' | 'status' | 'attempt' | 'stopReason' | 'background'> & {
  readonly steps: number;
};

export interface StoredChat {
  readonly isDeleted: boolean;
  /** Ascending by sequence, without the deleted. */
  readonly messages: readonly StoredMessage[];
  /** Ids of deleted messages that have a row. */
  readonly deletedIds: ReadonlySet<string>;
}

export interface Stored {
  readonly chats: ReadonlyMap<string, StoredChat>;
  readonly turns: ReadonlyMap<string, StoredTurn>;
}

export async function readStored(store: Pick<StoreBeside, 'rows'>): Promise<Stored> {
  // Chats first: of what is stored meanwhile, nothing is in a chat that is not known.
  const chatRows = await store.rows('SELECT * FROM agent_chat');
  const messages = await store.rows('SELECT * FROM agent_message ORDER BY sequence');
  const steps = await store.rows('SELECT request_id, count(*) AS count FROM agent_step GROUP BY request_id');
  const turnRows = await store.rows('SELECT * FROM agent_turn');
  const countOf = new Map(steps.map((row) => [row['request_id'], row['count'] as number]));
  const chats = chatRows.map((chat): [string, StoredChat] => {
    const mine = messages.filter((row) => row['chat_id'] === chat['chat_id']);
    return [
      chat['chat_id'] as string,
      {
        isDeleted: chat['deleted_at'] !== null,
        messages: mine.filter((row) => row['deleted_at'] === null).map(messageOf),
        deletedIds: new Set(mine.filter((row) => row['deleted_at'] !== null).map((row) => row['message_id'] as string)),
      },
    ];
  });
  const turns = turnRows.map((row): [string, StoredTurn] => [row['request_id'] as string, turnOf(row, countOf)]);
  return { chats: new Map(chats), turns: new Map(turns) };
}

const messageOf = (row: Row): StoredMessage =>
  ({
    messageId: row['message_id'],
    requestId: row['request_id'],
    role: row['role'],
    type: row['type'],
    props: row['props'],
    blockId: row['block_id'],
    threadId: row['thread_id'],
    stepId: row['step_id'],
    assistantId: row['assistant_id'],
    sequence: row['sequence'],
    state: row['state'],
    metadata: row['metadata'],
  }) as StoredMessage;

const turnOf = (row: Row, steps: ReadonlyMap<unknown, number>): StoredTurn =>
  ({
    requestId: row['request_id'],
    chatId: row['chat_id'],
    status: row['status'],
    attempt: row['attempt'],
    stopReason: row['stop_reason'],
    background: row['background'] === true || row['background'] === 1,
    steps: steps.get(row['request_id']) ?? 0,
  }) as StoredTurn;

/** A message without what its row says otherwise. */
export function storedForm({
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  chatId: _chatId,
  ...message
}: Message): StoredMessage {
  return message;
}
