import {
  ChatError,
  MAX_PARALLEL_TURNS,
  type Args,
  type Chat,
  type InputMessage,
  type Message,
  type OnBusy,
  type Result,
  type Turn,
} from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { inputRow } from './input-row.js';
import { LiveTurn, type Asked } from './live-turn.js';
import { mustFit } from './must-fit.js';
import { seekHost } from './run-turn.js';

/** A start as it arrives: parsed, with the identity of its body. */
export interface StartRequest {
  readonly args: Args<'turn:start'>;
  readonly requestId: string;
  readonly fingerprint: string;
  readonly userId: string;
  /** The chat to store with it, where it is new. */
  readonly newChat: Chat | null;
  /** Called when write 1 is stored, before anything is published. */
  readonly onStored?: () => void;
}

/**
 * Starts a turn (TRN-1 to TRN-3): runs as a command of the chat. When it resolves, the input is stored and will be
 * answered or visibly fail.
 *
 * @throws {ChatError} `idempotency_conflict`, `turn_busy`, `queue_full`, `payload_too_large`, `conflict`, `draining`, `storage_unavailable`; then nothing was stored or published
 */
export async function startTurn(session: ChatSession, request: StartRequest): Promise<Result<'turn:start'>> {
  const { args, requestId } = request;
  const repeated = await findRepeated(session, request);
  if (repeated) return repeated;
  const { refusal } = session.env.gate;
  if (refusal) throw refusal;
  mustFit(args.input ?? [], session.env.settings.limits, 'input');
  mustHaveRoom(session, args.onBusy);
  const again = args.regenerate === undefined ? null : await regenerated(session, args.regenerate);
  const turn = newTurn(
    session,
    { requestId, background: args.onBusy === 'parallel', createdBy: request.userId },
    again?.turn.assistantId,
    args,
  );
  const record: TurnRecord = {
    turn,
    fingerprint: request.fingerprint,
    rootStackId: session.env.ids.id(),
    regenerates: args.regenerate ?? null,
    openedBy: null,
  };
  const earlier = again ? await inputOf(session, record) : null;
  const messages = await storeBegin(session, record, args.input ?? [], { newChat: request.newChat });
  request.onStored?.();
  const live = announce(session, record, earlier ?? { input: messages, answersAnew: [] }, messages);
  place(session, live, args.onBusy);
  return { turn: live.turn, messages, duplicate: false };
}

/** TRN-1: the turn that this very start has begun already. @throws {ChatError} `idempotency_conflict` */
async function findRepeated(session: ChatSession, request: StartRequest): Promise<Result<'turn:start'> | null> {
  const record = await recordOf(session, request.requestId);
  if (!record) return null;
  if (record.fingerprint !== request.fingerprint || record.turn.createdBy !== request.userId)
    throw new ChatError('idempotency_conflict');
  const messages = await session.env.store.getMessages(session.chatId, { requestId: request.requestId, role: 'user' });
  return { turn: record.turn, messages, duplicate: true };
}

/** The turn as it is now: in memory, else as it is stored. */
export async function recordOf(session: ChatSession, requestId: string): Promise<TurnRecord | null> {
  const live = session.turns.get(requestId);
  return live ? live.record : session.env.store.getTurn(requestId);
}

/** TRN-3. @throws {ChatError} `turn_busy`, `queue_full` */
export function mustHaveRoom(session: ChatSession, onBusy: OnBusy): void {
  const { queue } = session;
  const { maxQueuedTurns } = session.env.settings.limits;
  const isFull = queue.length >= maxQueuedTurns;
  switch (onBusy) {
    case 'parallel':
      mustHaveBackgroundRoom(session);
      return;
    case 'reject': {
      const holding = queue.active ?? queue.waiting[0];
      if (holding) throw new ChatError('turn_busy', undefined, { details: { activeRequestId: holding.requestId } });
      return;
    }
    case 'interrupt':
      // The running one ends and makes room for this one.
      if (isFull && queue.active?.turn.status !== 'running') throw new ChatError('queue_full');
      return;
    case 'enqueue':
      if (isFull && queue.isBusy)
        throw new ChatError('queue_full', undefined, { details: { limit: 'maxQueuedTurns', max: maxQueuedTurns } });
  }
}

/** @throws {ChatError} `queue_full` */
function mustHaveBackgroundRoom(session: ChatSession): void {
  const background = [...session.turns.values()].filter((live) => live.turn.background && live.isLive);
  if (background.length >= MAX_PARALLEL_TURNS) {
    throw new ChatError('queue_full', undefined, { details: { limit: 'parallel', max: MAX_PARALLEL_TURNS } });
  }
}

/** TRN-11: the newest turn of the chat, ended. @throws {ChatError} `conflict`, `storage_unavailable` */
async function regenerated(session: ChatSession, requestId: string): Promise<TurnRecord> {
  const live = session.turns.get(requestId);
  if (live?.isLive) throw new ChatError('conflict', 'This turn has not ended.', { details: { path: 'regenerate' } });
  if (live) throw new ChatError('storage_unavailable', 'This turn is not stored yet.');
  const [newest] = await session.env.store.listTurns(session.chatId, { limit: 1 });
  if (newest?.turn.requestId !== requestId) {
    throw new ChatError('conflict', 'This is not the newest turn of the chat.', { details: { path: 'regenerate' } });
  }
  return newest;
}

/** The messages that a turn answers: its own, or those of the turn that it answers anew. */
export async function inputOf(session: ChatSession, record: TurnRecord): Promise<Asked> {
  const { store } = session.env;
  const answersAnew: string[] = [];
  let origin = record;
  for (let next = origin.regenerates; next !== null && !answersAnew.includes(next); next = origin.regenerates) {
    answersAnew.push(next);
    const earlier = await store.getTurn(next);
    if (!earlier) break;
    origin = earlier;
  }
  const input = await store.getMessages(session.chatId, { requestId: origin.turn.requestId, role: 'user' });
  return { input, answersAnew };
}

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
    return await storeInPlace(session, record, input, newChat);
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
  { env, sequences }: ChatSession,
  record: TurnRecord,
  input: readonly InputMessage[],
  newChat: Chat | null,
): Promise<Message[]> {
  const at = record.turn.createdAt;
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
