import type { Chat, Message, Turn } from '../../protocol/index.js';
import type { TurnRecord } from '../../server/ports/store.js';
import { builtStore } from './built.js';

/** A chat with a past. */
export interface SeededChat {
  readonly chatId: string;
  readonly messages: number;
}

const AT = '2026-01-01T00:00:00.000Z';
const MESSAGES_PER_TURN = 50;
/** The length of a usual answer: about 380 bytes. */
export const ANSWER = 'All work and no play makes a dull answer. '.repeat(9);

export const rowChat = (chatId: string): Chat => ({
  chatId,
  title: null,
  assistantId: 'echo',
  mode: 'chat',
  status: 'active',
  preset: false,
  public: true,
  share: 'private',
  sort: 0,
  lastMessageAt: null,
  metadata: null,
  createdBy: 'bench',
  teamId: null,
  tenantId: null,
  createdAt: AT,
  updatedAt: AT,
});

export const rowTurn = (chatId: string, requestId: string, status: Turn['status']): TurnRecord => ({
  turn: {
    requestId,
    chatId,
    assistantId: 'echo',
    status,
    background: false,
    attempt: 1,
    stopReason: null,
    error: null,
    usage: null,
    metadata: null,
    createdBy: 'bench',
    createdAt: AT,
    startedAt: AT,
    endedAt: status === 'completed' ? AT : null,
  },
  fingerprint: requestId,
  rootStackId: `${requestId}-root`,
  regenerates: null,
  openedBy: null,
});

export const rowMessage = (chatId: string, requestId: string, messageId: string, sequence: number): Message => ({
  messageId,
  chatId,
  requestId,
  role: 'assistant',
  type: 'text',
  props: { content: ANSWER },
  blockId: null,
  threadId: null,
  stepId: null,
  assistantId: 'echo',
  sequence,
  state: 'closed',
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
});

/** Writes chats of many messages through the store's own turn writes, before a server opens the database. */
export async function seedChats(url: string, seeds: readonly SeededChat[]): Promise<void> {
  if (seeds.length === 0) return;
  const { openPrismaStore, clock, ids } = await builtStore();
  const store = await openPrismaStore({ url, clock, ids });
  for (const { chatId, messages } of seeds) {
    await store.createChat(rowChat(chatId));
    for (let first = 1; first <= messages; first += MESSAGES_PER_TURN) {
      const requestId = ids.id();
      const last = Math.min(messages, first + MESSAGES_PER_TURN - 1);
      const rows = Array.from({ length: last - first + 1 }, (_, i) =>
        rowMessage(chatId, requestId, ids.id(), first + i),
      );
      await store.write([
        { kind: 'begin', record: rowTurn(chatId, requestId, 'queued'), messages: [], newChat: null, at: AT },
        {
          kind: 'end',
          record: rowTurn(chatId, requestId, 'completed'),
          messages: rows,
          deletedMessageIds: [],
          steps: [],
          lastSequence: last,
          at: AT,
        },
      ]);
    }
  }
  await store.close();
}
