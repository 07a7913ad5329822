import { ChatError, isResumable, type Args, type Result } from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import { announce, place, storeBegin } from './begin-turn.js';
import type { ChatSession } from './chat-session.js';
import { mustHaveRoom } from './must-have-room.js';
import { inputOf } from './turn-input.js';
import { recordOf } from './turn-record.js';

/** Where a repeated resume without requestId is looked for. */
const LOOK_BACK = 50;

/**
 * Starts the next attempt of an incomplete turn (TRN-9): runs as a command of the chat.
 *
 * @throws {ChatError} `turn_not_resumable`, `bad_request` (attempt), `not_found`, `queue_full`, `storage_unavailable`, `draining`
 */
export async function resumeTurn(session: ChatSession, args: Args<'turn:resume'>): Promise<Result<'turn:resume'>> {
  await endings(session);
  const record = await wanted(session, args);
  const { turn } = record;
  if (args.attempt !== undefined) {
    if (args.attempt === turn.attempt && turn.attempt > 1) return { turn, duplicate: true };
    if (args.attempt !== turn.attempt + 1) {
      throw new ChatError('bad_request', `The next attempt is ${turn.attempt + 1}.`, {
        details: { path: 'attempt', expected: turn.attempt + 1 },
      });
    }
  }
  if (!isResumable(turn)) throw new ChatError('turn_not_resumable', `This turn is ${turn.status}.`);
  if (session.turns.has(turn.requestId))
    throw new ChatError('storage_unavailable', 'This turn is not stored yet.', { retryAfterMs: 1000 });
  const { refusal } = session.env.gate;
  if (refusal) throw refusal;
  mustHaveRoom(session, turn.background ? 'parallel' : 'enqueue');
  const next: TurnRecord = {
    ...record,
    turn: {
      ...turn,
      status: 'queued',
      attempt: turn.attempt + 1,
      stopReason: null,
      error: null,
      usage: null,
      startedAt: null,
      endedAt: null,
    },
  };
  const asked = await inputOf(session, record);
  await storeBegin(session, next, [], { before: turn });
  const live = announce(session, next, asked);
  place(session, live, 'enqueue');
  return { turn: live.turn, duplicate: false };
}

/** A resume that meets a turn that is ending waits for its end (TRN-5). */
async function endings(session: ChatSession): Promise<void> {
  const ending = [...session.turns.values()].flatMap(({ state }) => (state.phase === 'ending' ? [state.done] : []));
  await Promise.allSettled(ending);
}

/** The turn that is named, else the newest incomplete one; or the one whose attempt of that number has begun already. */
async function wanted(session: ChatSession, { requestId, attempt }: Args<'turn:resume'>): Promise<TurnRecord> {
  if (requestId !== undefined) {
    const record = await recordOf(session, requestId);
    if (record?.turn.chatId !== session.chatId) throw new ChatError('not_found');
    return record;
  }
  const unsaved = [...session.turns.values()]
    .filter((live) => live.state.phase === 'unsaved' && live.turn.status !== 'completed')
    .at(-1);
  if (unsaved) return unsaved.record;
  const { store } = session.env;
  const recent = attempt === undefined ? [] : await store.listTurns(session.chatId, { limit: LOOK_BACK });
  const isAsked = ({ turn }: TurnRecord): boolean => turn.attempt === attempt && turn.attempt > 1;
  const underWay = recent.find(
    (record) => isResumable(record.turn) || (isAsked(record) && record.turn.status === 'queued'),
  );
  const [newest] = await store.listTurns(session.chatId, { limit: 1, incomplete: true });
  const found = underWay ?? newest ?? recent.find(isAsked);
  if (!found) throw new ChatError('turn_not_resumable', 'This chat has no incomplete turn.');
  return session.turns.get(found.turn.requestId)?.record ?? found;
}
