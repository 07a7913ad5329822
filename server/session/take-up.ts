import type { ChatEvent } from '../../protocol/index.js';
import type { RecordEntry } from '../ports/chat-records.js';
import type { AttemptKey, JournaledAttempt } from '../ports/journal.js';
import type { LoggedEvent } from '../ports/live-log.js';
import type { ChatSession } from './chat-session.js';
import type { Holding } from './holdings.js';
import { queueAgain } from './queue-again.js';
import { endLeft, leftAttempt, storeLateEdits } from './recover-attempt.js';

/**
 * LIF-4: goes on with a chat where its owner before left it. Attempts that nobody ended are ended here, with every word that
 * anybody saw; turns that had not begun are queued again.
 *
 * The log goes on under its epoch where that owner has left the chat whole. One that died may have stored what it could tell
 * nobody of: an input, an edit, an end. Whoever followed looks anew, and is told so by another epoch (SUB-4).
 */
export async function takeUp(session: ChatSession, holding: Holding): Promise<void> {
  const { env, recorder, chatId } = session;
  const { left } = holding;
  if (holding.wasWhole) session.log.goOn(eventsIn(left));
  const ends: Promise<unknown>[] = [];
  for (const attempt of attemptsIn(left)) {
    const open = await leftAttempt(env, attempt);
    if (open) {
      ends.push((await endLeft(session, open)).ended);
      continue;
    }
    await storeLateEdits(env, attempt);
    recorder.forget(attempt.attempt);
  }
  await Promise.all(ends);
  for (const record of await env.store.queuedTurns(chatId)) await queueAgain(session, record);
  // Only now: whoever tries again after a failure needs it.
  holding.left = [];
}

function eventsIn(left: readonly RecordEntry[]): LoggedEvent[] {
  return left.flatMap(({ kind, json }) => {
    if (kind !== 'event') return [];
    const { epoch, offset, type } = JSON.parse(json) as ChatEvent;
    return [{ epoch, offset, type, json }];
  });
}

/** As the journal of one node would give them. */
function attemptsIn(left: readonly RecordEntry[]): JournaledAttempt[] {
  const entries = new Map<AttemptKey, string[]>();
  for (const { kind, attempt, json } of left) {
    if (attempt === null) continue;
    const held = entries.get(attempt) ?? [];
    entries.set(attempt, held);
    held.push(kind === 'event' ? `["event",${json}]` : json);
  }
  return [...entries].map(([attempt, held]) => ({ attempt, entries: held }));
}
