import { ChatError, type Chat, type InputMessage, type Message, type OnBusy, type Turn } from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { inputRow } from './input-row.js';
import { LiveTurn, type Asked } from './live-turn.js';
import { seekHost } from './run-turn.js';

export function newTurn(
  session: ChatSession,
  start: Pick<Turn, 'requestId' | 'background' | 'createdBy'>,
  inherited: string | undefined,
  args: { readonly assistantId?: string | undefined; readonly metadata?: Turn['metadata'] | undefined },
): Turn {
  return {
    ...start,
    chatId: session.chatId,
    assistantId: args.assistantId ?? inherited ?? session.chat.assistantId,
    status: 'queued',
    attempt: 1,
    stopReason: null,
    error: null,
    usage: null,
    metadata: args.metadata ?? null,
    createdAt: session.now,
    startedAt: null,
    endedAt: null,
  };
}

interface BeginOptions {
  readonly newChat?: Chat | null;
  /** The turn as it is read until this attempt is announced; null for a new turn. */
  readonly before?: Turn | null;
}

/**
 * Write 1. What it stores is seen by nobody until it is announced, which the caller does next.
 *
 * @throws {ChatError} `idempotency_conflict` for an id of a new turn that messages or steps stand under
 */
export async function storeBegin(
  session: ChatSession,
  record: TurnRecord,
  input: readonly InputMessage[],
  { newChat = null, before = null }: BeginOptions = {},
): Promise<Message[]> {
  const { requestId } = record.turn;
  if (before === null && newChat === null) await mustHaveNoMessages(session, requestId);
  session.beginning.set(requestId, before);
  try {
    const messages = await storeInPlace(session, record, input, newChat);
    // It is stored, and waits for whoever has the chat by now. Not as if nothing had been done (`FencedOut`).
    if (session.hasMoved) throw new ChatError('storage_unavailable');
    return messages;
  } catch (error) {
    session.beginning.delete(requestId);
    throw error;
  }
}

/**
 * Messages that a program saved are no messages of a turn that begins now: it could write over them, and a resume would
 * replace them. Of steps write 1 tells.
 *
 * @throws {ChatError} `idempotency_conflict`
 */
async function mustHaveNoMessages({ chatId, env }: ChatSession, requestId: string): Promise<void> {
  const saved = await env.store.getMessages(chatId, { requestId, limit: 1 });
  if (saved.length > 0) throw new ChatError('idempotency_conflict');
}

async function storeInPlace(
  { env, sequences, now }: ChatSession,
  record: TurnRecord,
  input: readonly InputMessage[],
  newChat: Chat | null,
): Promise<Message[]> {
  // The time of a resume is that of its attempt: by it the queue is in its order after a restart.
  const at = record.turn.attempt === 1 ? record.turn.createdAt : now;
  const ids = input.map(() => env.ids.id());
  return sequences.inPlace(input.length, async (places, tries) => {
    const messages = ids.map((messageId, index) =>
      inputRow(record.turn, input[index] as InputMessage, { messageId, sequence: places[index] as number, at }),
    );
    // What is stored can be refused no more (TRN-2).
    const patienceMs = tries === 1 ? env.settings.commitRetryMs : Infinity;
    await env.writes
      .submit(() => ({ kind: 'begin', record, messages, newChat, at }), patienceMs)
      .catch(async (error: unknown) => {
        if (!(error instanceof ChatError) || error.code !== 'conflict') throw error;
        if (newChat && (await env.store.isChatIdTaken(newChat.chatId))) throw error;
        // The turn of a deleted chat, which no reading shows (ACC-1).
        throw new ChatError('idempotency_conflict', undefined, { cause: error });
      });
    return messages;
  });
}

/** Takes the turn into memory, under the chat's bounds and clock. */
export function addTurn(session: ChatSession, record: TurnRecord, asked: Asked): LiveTurn {
  const live = new LiveTurn({ record, ...asked, limits: session.env.settings.limits, now: () => session.now });
  session.addTurn(live);
  return live;
}

/** What is stored becomes visible: the turn, then the messages that were stored with it. */
export function announce(
  session: ChatSession,
  record: TurnRecord,
  asked: Asked,
  messages: readonly Message[] = [],
): LiveTurn {
  const live = addTurn(session, record, asked);
  session.beginning.delete(live.requestId);
  session.raiseActivity(messages, record.turn.createdAt);
  session.emit({ type: 'turn.queued', requestId: live.requestId, turn: live.turn });
  for (const message of messages) {
    session.messageStored(message.messageId, message);
    session.emit({ type: 'message.created', requestId: live.requestId, message });
  }
  return live;
}

/** Puts the turn where its time will come. */
export function place(session: ChatSession, live: LiveTurn, onBusy: OnBusy): void {
  if (live.turn.background) {
    seekHost(session, live);
    return;
  }
  if (onBusy !== 'interrupt') {
    session.queue.enqueue(live);
    session.turnOver();
    return;
  }
  const { active } = session.queue;
  if (active?.state.phase === 'waiting' && active.turn.status === 'queued') {
    // It has not begun: it is one of those that are queued.
    active.state.cancel();
    active.state = { phase: 'queued' };
    session.queue.yield();
  }
  session.queue.enqueueFirst(live);
  if (session.queue.active)
    void endTurn(session, session.queue.active, { status: 'interrupted', stopReason: 'superseded' });
  else session.turnOver();
}
