import type { Step } from '../../../protocol/index.js';
import type { Store } from '../../ports/store.js';
import type { LiveTurn } from '../live-turn.js';
import { leafSteps } from '../resume-plan.js';
import type { Sessions } from '../sessions.js';

/** Steps as they are now: of a running attempt from its buffer, else from the store. */

export async function stepsOfTurn(sessions: Sessions, store: Store, requestId: string): Promise<Step[]> {
  const live = sessions.ofTurn(requestId)?.turns.get(requestId);
  if (live && holdsSteps(live)) return live.stepRecords().map(({ step }) => step);
  return (await store.getSteps(requestId)).map(({ step }) => step);
}

/** The steps of one stack in one chat, the newest state of each. */
export async function stepsOfStack(sessions: Sessions, store: Store, stackId: string, chatId: string): Promise<Step[]> {
  const live = livesWithStack(sessions, stackId).find(({ turn }) => turn.chatId === chatId);
  const records = live ? live.stepRecords() : await store.getStepsByStack(stackId);
  return records.flatMap(({ step }) => (step.stackId === stackId && step.chatId === chatId ? [step] : []));
}

/** The chats that have steps of this stack. Agents choose these ids: nothing keeps one from naming that of another chat. */
export async function chatsOfStack(sessions: Sessions, store: Store, stackId: string): Promise<string[]> {
  const live = livesWithStack(sessions, stackId).map(({ turn }) => turn.chatId);
  return [...new Set([...live, ...(await store.chatsOfStack(stackId))])];
}

/** Stack ids from the root down to this one. */
export async function stackPath(sessions: Sessions, store: Store, stackId: string, chatId: string): Promise<string[]> {
  const live = livesWithStack(sessions, stackId).find(({ turn }) => turn.chatId === chatId);
  if (!live) return store.getStackPath(chatId, stackId);
  const path: string[] = [];
  for (
    let at = live.steps.place(stackId);
    at && !path.includes(at.stackId);
    at = at.stackParentId === null ? undefined : live.steps.place(at.stackParentId)
  ) {
    path.unshift(at.stackId);
  }
  return path;
}

/** Where the newest incomplete turn stopped: where a resume begins. A turn that runs again shows where it is now. */
export async function incompleteStep(sessions: Sessions, store: Store, chatId: string): Promise<Step | null> {
  const stored = await store.lastIncompleteStep(chatId);
  return stored && (leafSteps(await stepsOfTurn(sessions, store, stored.requestId))[0] ?? null);
}

/** Whether the buffer holds every step of the turn: those of earlier attempts are taken up when the attempt begins. */
const holdsSteps = (live: LiveTurn): boolean => live.isBuffered;

const livesWithStack = (sessions: Sessions, stackId: string): LiveTurn[] =>
  [...sessions.all()].flatMap((session) =>
    [...session.turns.values()].filter((live) => live.isBuffered && live.steps.place(stackId)),
  );
