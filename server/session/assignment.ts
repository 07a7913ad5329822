import type { Assignment, TurnError } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import type { Frame } from './frame.js';
import { readHistory } from './history.js';
import type { LiveTurn } from './live-turn.js';
import { patiently } from './patiently.js';
import { resumeOf } from './resume-plan.js';

/** How a frame ends whose assignment could not be made. */
export const NOT_PREPARED: TurnError = {
  code: 'storage_unavailable',
  message: 'The earlier turns could not be read.',
};

/** Gives the frame what its host needs to run it, unless it ends meanwhile. @throws {ChatError} `storage_unavailable` */
export async function prepareFrame(session: ChatSession, live: LiveTurn, frame: Frame): Promise<void> {
  const assignment = await assignmentOf(session, live, frame);
  if (!frame.result) frame.assignment = assignment;
}

async function assignmentOf(session: ChatSession, live: LiveTurn, frame: Frame): Promise<Assignment> {
  // A call is given the history of its turn: it is the same, and held once.
  const history = live.root.assignment?.history ?? (await patiently(session, () => readHistory(session, live)));
  const { stackId, stackParentId, stackDepth, assistantId } = frame.place;
  const steps = live.stepRecords().map(({ step }) => step);
  // A turn without steps runs anew: of what it had sent, nothing stands for those that it calls.
  const isAnew = steps.length === 0 && !frame.isRoot;
  const standing = isAnew ? [] : live.standing.filter(({ messageId }) => !live.deletedStored.has(messageId));
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
