import { foldMessage, type ChatEvent, type Message, type MessageChange, type Turn } from '../../protocol/index.js';
import type { JournaledAttempt } from '../ports/journal.js';
import type { StepRecord, TurnRecord } from '../ports/store.js';
import { endTurn } from './end-turn.js';
import type { Environment } from './environment.js';
import type { LiveTurn, Outcome } from './live-turn.js';
import { addTurn, announce, inputOf, place } from './start-turn.js';
import type { Sessions } from './sessions.js';
import type { ChatSession } from './chat-session.js';

/** What the journal holds of an attempt. */
type Entry =
  | readonly ['begin', TurnRecord]
  | readonly ['event', ChatEvent]
  | readonly ['step', StepRecord]
  | readonly ['end', Turn];

/**
 * LIF-2: takes up what an earlier process left, before anybody is served. An attempt whose end is stored is dropped from
 * the journal; one without an end is ended here, by the one finaliser, with all that anybody had seen; a turn that had
 * not begun is queued again.
 */
export async function recover(env: Environment, sessions: Sessions): Promise<void> {
  const ends: Promise<unknown>[] = [];
  for (const attempt of await env.journal.recover()) await recoverAttempt(env, sessions, attempt, ends);
  await Promise.all(ends);
  for (const record of await env.store.queuedTurns()) await queueAgain(env, sessions, record);
}

async function recoverAttempt(
  env: Environment,
  sessions: Sessions,
  { attempt: key, entries }: JournaledAttempt,
  ends: Promise<unknown>[],
): Promise<void> {
  const parsed = entries.map((entry) => JSON.parse(entry) as Entry);
  const begin = parsed.find((entry) => entry[0] === 'begin')?.[1];
  const stored = begin && (await env.store.getTurn(begin.turn.requestId));
  const isOver = !stored || stored.turn.attempt > begin.turn.attempt || stored.turn.status !== 'queued';
  const session = isOver ? null : await sessions.open(stored.turn.chatId);
  if (isOver || !session) {
    env.journal.forget(key);
    return;
  }
  const record: TurnRecord = { ...stored, turn: { ...begin.turn, status: 'running' } };
  const live = await rebuild(session, record, parsed);
  const ended = parsed.find((entry) => entry[0] === 'end')?.[1];
  env.log.warn(
    { chatId: session.chatId, requestId: live.requestId, attempt: record.turn.attempt },
    'an attempt is ended that a crash had left',
  );
  ends.push(endTurn(session, live, ended ? outcomeOf(ended) : { status: 'interrupted', stopReason: 'crashed' }));
}

/** The attempt as it stood: messages folded from the events that were journaled, steps as they were last. */
async function rebuild(session: ChatSession, record: TurnRecord, entries: readonly Entry[]): Promise<LiveTurn> {
  const live = addTurn(session, record, await inputOf(session, record));
  live.state = { phase: 'running' };
  live.isJournaled = true;
  session.env.metrics.turnsActive.inc();
  const messages = new Map<string, Message>();
  const steps = new Map(
    (await session.env.store.getSteps(record.turn.requestId)).map((held) => [held.step.stepId, held]),
  );
  for (const entry of entries) {
    if (entry[0] === 'step') steps.set(entry[1].step.stepId, entry[1]);
    // Also of a message that was deleted since: somebody saw its place.
    if (entry[0] === 'event' && entry[1].type === 'message.created') session.raiseSequence(entry[1].message.sequence);
    if (entry[0] !== 'event' || replay(messages, entry[1], live)) continue;
    // Behind a hole nothing can be believed, and no server may be kept from starting by it.
    session.env.log.error(
      { requestId: live.requestId, offset: entry[1].offset },
      'the journal of an attempt has a hole',
    );
    break;
  }
  for (const message of messages.values()) live.messages.restore(message);
  live.steps.restore([...steps.values()], {});
  return live;
}

/** @returns whether the event fits what is held */
function replay(messages: Map<string, Message>, event: ChatEvent, live: LiveTurn): boolean {
  switch (event.type) {
    case 'message.created':
    case 'message.updated':
      messages.set(event.message.messageId, event.message);
      return true;
    case 'message.deleted':
      for (const messageId of event.messageIds) if (!messages.delete(messageId)) live.deletedStored.add(messageId);
      return true;
    default: {
      const change = event as MessageChange;
      const held = messages.get(change.messageId);
      const folded = held && foldedOrNull(held, change);
      if (folded) messages.set(change.messageId, folded);
      return folded !== null;
    }
  }
}

function foldedOrNull(held: Message, change: MessageChange): Message | null {
  try {
    return foldMessage(held, change);
  } catch {
    return null;
  }
}

/** A crash after the end keeps the status it ended with (TRN-7). */
function outcomeOf({ status, stopReason, error, usage }: Turn): Outcome {
  if (status === 'completed') return { status, usage };
  return { status: status === 'failed' ? 'failed' : 'interrupted', stopReason: stopReason ?? 'crashed', error, usage };
}

async function queueAgain(env: Environment, sessions: Sessions, record: TurnRecord): Promise<void> {
  const session = await sessions.open(record.turn.chatId);
  if (!session || session.turns.has(record.turn.requestId)) return;
  const live = announce(session, record, await inputOf(session, record));
  env.log.info({ chatId: session.chatId, requestId: live.requestId }, 'a waiting turn is queued again');
  const isAgentsOwn = live.turn.background && record.openedBy !== null;
  if (isAgentsOwn) void endTurn(session, live, { status: 'interrupted', stopReason: 'crashed' });
  else place(session, live, 'enqueue');
}
