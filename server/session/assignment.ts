import { ChatError, type Assignment } from '../../protocol/index.js';
import { pause } from '../clock.js';
import type { ChatSession } from './chat-session.js';
import type { Frame } from './frame.js';
import { readHistory } from './history.js';
import type { LiveTurn } from './live-turn.js';
import { resumeOf } from './resume-plan.js';

/** Tries a reading again while the store is away, as long as a write would be tried (TRN-7). */
export async function patiently<T>(session: ChatSession, read: () => Promise<T>): Promise<T> {
  const { clock, settings } = session.env;
  const deadline = clock.monotonic() + settings.commitRetryMs;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isPassing = error instanceof ChatError && error.retryable;
      if (!isPassing || clock.monotonic() > deadline) throw error;
      await pause(clock, 100);
    }
  }
}

/** What a host needs to run a frame. */
export async function assignmentOf(session: ChatSession, live: LiveTurn, frame: Frame): Promise<Assignment> {
  const history = await patiently(session, () => readHistory(session, live));
  const { stackId, stackParentId, stackDepth, assistantId } = frame.place;
  const steps = live.stepRecords().map(({ step }) => step);
  const standing = live.standing.filter(({ messageId }) => !live.deletedStored.has(messageId));
  return {
    turn: live.turn,
    chat: session.chat,
    assistantId,
    stackId,
    stackParentId,
    stackDepth,
    input: [...frame.input],
    history,
    space: live.steps.space(),
    resume: live.turn.attempt === 1 ? null : resumeOf(steps, standing, stackId, live.root.place),
  };
}
