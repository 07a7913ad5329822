import { ChatError, type Args, type Chat, type Result } from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import { announce, newTurn, place, storeBegin } from './begin-turn.js';
import type { ChatSession } from './chat-session.js';
import { mustFit } from './must-fit.js';
import { mustHaveRoom } from './must-have-room.js';
import { inputOf } from './turn-input.js';
import { recordOf } from './turn-record.js';

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
