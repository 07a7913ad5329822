import type { Environment } from './environment.js';
import { queueAgain } from './queue-again.js';
import { endLeft, leftAttempt, storeLateEdits } from './recover-attempt.js';
import type { Sessions } from './sessions.js';

/**
 * LIF-2: takes up what an earlier process left, before anybody is served. An attempt whose end is stored is dropped from
 * the journal; one without an end is ended here, by the one finaliser, with all that anybody had seen; a turn that had
 * not begun is queued again.
 */
export async function recover(env: Environment, sessions: Sessions): Promise<void> {
  const ends: Promise<unknown>[] = [];
  for (const attempt of await env.journal.recover()) {
    const left = await leftAttempt(env, attempt);
    const session = left && (await sessions.open(left.record.turn.chatId));
    if (session) {
      ends.push((await endLeft(session, left)).ended);
      continue;
    }
    await storeLateEdits(env, attempt);
    env.journal.forget(attempt.attempt);
  }
  await Promise.all(ends);
  for (const record of await env.store.queuedTurns()) {
    const session = await sessions.open(record.turn.chatId);
    if (session) await queueAgain(session, record);
  }
}
