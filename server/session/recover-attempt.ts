import {
  foldMessage,
  isEnded,
  type ChatEvent,
  type Message,
  type MessageChange,
  type Turn,
} from '../../protocol/index.js';
import { isoNow } from '../clock.js';
import type { JournaledAttempt } from '../ports/journal.js';
import type { TurnRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import type { Environment } from './environment.js';
import type { EndedTurn, LiveTurn, Outcome } from './live-turn.js';
import type { Note } from './recorder.js';
import { addTurn } from './begin-turn.js';
import { inputOf } from './turn-input.js';

/** What is written down of an attempt. */
type Entry = Note | readonly ['event', ChatEvent];

/** An attempt that somebody left, and that is not stored as ended. */
export interface LeftAttempt {
  readonly record: TurnRecord;
  readonly entries: readonly Entry[];
}

/** Null where the attempt's end is stored, or it was never stored that it began, or its chat is gone: nothing is left to do. */
export async function leftAttempt({ store }: Environment, attempt: JournaledAttempt): Promise<LeftAttempt | null> {
  const entries = attempt.entries.map((entry) => JSON.parse(entry) as Entry);
  const begin = entries.find((entry) => entry[0] === 'begin')?.[1];
  const stored = begin && (await store.getTurn(begin.turn.requestId));
  if (!stored || stored.turn.attempt > begin.turn.attempt || stored.turn.status !== 'queued') return null;
  return { record: { ...stored, turn: { ...begin.turn, status: 'running' } }, entries };
}

/** What people did to an attempt's messages that is written down and not stored. */
interface LateEdits {
  readonly chatId: string;
  readonly edited: readonly Message[];
  readonly deleted: readonly string[];
}

/**
 * What people did to messages of an attempt while its end was being written is stored by a second write (`storeAttempt`), and a
 * crash may have come before that one. Null where nothing is left of it to be stored, or the end itself is not stored. What was
 * edited later than what is written down, after the attempt was done with, stands.
 */
export async function lateEdits(
  { store }: Pick<Environment, 'store'>,
  attempt: JournaledAttempt,
): Promise<LateEdits | null> {
  const entries = attempt.entries.map((entry) => JSON.parse(entry) as Entry);
  const begin = entries.find((entry) => entry[0] === 'begin')?.[1];
  const stored = begin && (await store.getTurn(begin.turn.requestId));
  if (!stored || !isEnded(stored.turn.status)) return null;
  const edits = new Map<string, Message>();
  const deletions: string[] = [];
  for (const [kind, event] of entries) {
    if (kind !== 'event') continue;
    if (event.type === 'message.updated') edits.set(event.message.messageId, event.message);
    if (event.type === 'message.deleted') deletions.push(...event.messageIds);
  }
  const edited: Message[] = [];
  for (const message of edits.values()) {
    const row = await store.getMessage(message.messageId);
    if (row && row.updatedAt < message.updatedAt) edited.push(message);
  }
  // An attempt also takes an id back that turned out to be another turn's (`renameTaken`): that message stays.
  const rows = await Promise.all(deletions.map((messageId) => store.getMessage(messageId)));
  const mine = rows.filter((row) => row?.requestId === stored.turn.requestId);
  const deleted = mine.flatMap((row) => row?.messageId ?? []);
  return edited.length + deleted.length === 0 ? null : { chatId: stored.turn.chatId, edited, deleted };
}

/** Stores them, where there are any. */
export async function storeLateEdits(
  env: Pick<Environment, 'store' | 'clock'>,
  attempt: JournaledAttempt,
): Promise<void> {
  const late = await lateEdits(env, attempt);
  if (!late) return;
  const { chatId, edited, deleted } = late;
  await env.store.saveMessages(chatId, edited);
  await env.store.deleteMessages(chatId, deleted, isoNow(env.clock));
}

/** Ends an attempt by the one finaliser, with all that anybody had seen of it. Once it resolves the end is under way. */
export async function endLeft(
  session: ChatSession,
  { record, entries }: LeftAttempt,
): Promise<{ readonly ended: Promise<EndedTurn> }> {
  const live = await rebuild(session, record, entries);
  const end = entries.find((entry) => entry[0] === 'end')?.[1];
  session.env.log.warn(
    { chatId: session.chatId, requestId: live.requestId, attempt: record.turn.attempt },
    'an attempt is ended that a crash had left',
  );
  return { ended: endTurn(session, live, end ? outcomeOf(end) : { status: 'interrupted', stopReason: 'crashed' }) };
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
    if (entry[0] === 'message') {
      messages.set(entry[1].messageId, entry[1]);
      session.sequences.raise(entry[1].sequence);
    }
    if (entry[0] === 'deleted') for (const messageId of entry[1]) live.deletedStored.add(messageId);
    // Also of a message that was deleted since: somebody saw its place.
    if (entry[0] === 'event' && entry[1].type === 'message.created') session.sequences.raise(entry[1].message.sequence);
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
