import type { Chat, ChatEvent, EventBody, Message, Position, SubscribeResult, Turn } from '../../../protocol/index.js';

/** Rows as a server would give them. */

export const AT = '2026-01-01T00:00:00.000Z';
export const CHAT = 'chat-1';

export function chatRow(change: Partial<Chat> = {}): Chat {
  return {
    chatId: CHAT,
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
    createdBy: 'ada',
    teamId: null,
    tenantId: null,
    createdAt: AT,
    updatedAt: AT,
    ...change,
  };
}

export function messageRow(sequence: number, change: Partial<Message> = {}): Message {
  return {
    messageId: `message-${sequence}`,
    chatId: CHAT,
    requestId: 'turn-1',
    role: 'assistant',
    type: 'text',
    props: { content: `text ${sequence}` },
    blockId: null,
    threadId: null,
    stepId: null,
    assistantId: 'echo',
    sequence,
    state: 'closed',
    metadata: null,
    createdAt: AT,
    updatedAt: AT,
    ...change,
  };
}

export function turnRow(requestId: string, change: Partial<Turn> = {}): Turn {
  return {
    requestId,
    chatId: CHAT,
    assistantId: 'echo',
    status: 'running',
    background: false,
    attempt: 1,
    stopReason: null,
    error: null,
    usage: null,
    metadata: null,
    createdBy: 'ada',
    createdAt: AT,
    startedAt: AT,
    endedAt: null,
    ...change,
  };
}

/** Events with consecutive offsets after `from`. */
export function events(from: number, bodies: readonly EventBody[], epoch = 'e1', chatId = CHAT): ChatEvent[] {
  return bodies.map((body, index) => ({ ...body, chatId, epoch, offset: from + index + 1, at: AT }));
}

export const position = (offset: number, epoch = 'e1'): Position => ({ epoch, offset });

export function snapshot(
  offset: number,
  messages: readonly Message[],
  change: Partial<SubscribeResult> = {},
): SubscribeResult {
  return {
    chat: chatRow(),
    position: position(offset),
    mode: 'snapshot',
    messages: [...messages],
    hasMore: false,
    turns: [],
    presence: [],
    ...change,
  };
}

export function replay(
  offset: number,
  list: readonly ChatEvent[],
  change: Partial<SubscribeResult> = {},
): SubscribeResult {
  return { chat: chatRow(), position: position(offset), mode: 'replay', events: [...list], presence: [], ...change };
}

export const created = (message: Message): EventBody => ({ type: 'message.created', message });
export const appended = (messageId: string, from: number, text: string): EventBody => ({
  type: 'message.appended',
  messageId,
  path: 'content',
  from,
  text,
});
