import {
  ChatError,
  definedOf,
  summaryOf,
  tooLarge,
  type Args,
  type SavedStep,
  type Step,
} from '../../protocol/index.js';
import type { StepRecord } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import { mustBeApart, mustBeTurnsOfThis } from './saved.js';
import { stepBytes } from './step-recorder.js';

/**
 * Keeps steps that ran elsewhere, for a program that records them here: adds them behind those that their turns have, or
 * changes those that are there. A completed one stays as it is, and those of a turn that runs here are its assistant's.
 *
 * @returns the steps as they stand, in the order given
 * @throws {ChatError} `conflict` for an id that means another step or a turn that is not over, `idempotency_conflict` for a
 *   turn of another chat, `payload_too_large`
 */
export async function saveSteps(session: ChatSession, drafts: readonly SavedStep[]): Promise<Step[]> {
  await mustBeTurnsOfThis(session, new Set(drafts.map(({ requestId }) => requestId)));
  mustBeApart(
    drafts.flatMap(({ stepId }) => stepId ?? []),
    taken,
  );
  const records: StepRecord[] = [];
  const places = new Map<string, Place>();
  for (const draft of drafts) {
    const held = draft.stepId === undefined ? null : await heldStep(session, draft);
    records.push(held ? changed(session, held, draft) : await added(session, draft, places));
  }
  mustFitTurn(session, records);
  await session.env.store.saveSteps(records);
  for (const { step } of records) tell(session, step);
  return records.map(({ step }) => step);
}

/** @throws {ChatError} `conflict` while its turn runs, `payload_too_large` */
export async function updateStep(session: ChatSession, args: Args<'step:update'>): Promise<Step> {
  const { stepId, ...patch } = args;
  const held = await session.env.store.getStep(stepId);
  if (held?.step.chatId !== session.chatId) throw new ChatError('not_found');
  await mustBeTurnsOfThis(session, new Set([held.step.requestId]));
  mustFitTurn(session, [{ ...held, step: { ...held.step, ...definedOf(patch) } }]);
  const step = await session.env.store.updateStep(stepId, definedOf(patch), session.now);
  tell(session, step);
  return step;
}

/** DAT-3: what is recorded at a time is no more than a turn may hold, whichever way it comes. @throws {ChatError} `payload_too_large` */
function mustFitTurn({ env }: ChatSession, records: readonly StepRecord[]): void {
  const { maxTurnBytes } = env.settings.limits;
  const bytes = records.reduce((sum, { step }) => sum + stepBytes(step), 0);
  if (bytes > maxTurnBytes) throw tooLarge('maxTurnBytes', maxTurnBytes);
}

const taken = (stepId: string): ChatError =>
  new ChatError('conflict', 'This stepId is taken.', { details: { stepId } });

/** @throws {ChatError} `conflict` for the id of a step of another turn */
async function heldStep(session: ChatSession, { stepId = '', requestId }: SavedStep): Promise<StepRecord | null> {
  const held = await session.env.store.getStep(stepId);
  if (held && (held.step.chatId !== session.chatId || held.step.requestId !== requestId)) throw taken(stepId);
  return held;
}

function changed(session: ChatSession, { step, beginOrder }: StepRecord, draft: SavedStep): StepRecord {
  if (step.status === 'completed') return { step, beginOrder };
  return { step: { ...step, ...definedOf(draft), updatedAt: session.now }, beginOrder };
}

/** Where the newest step of a turn stands. */
interface Place {
  sequence: number;
  beginOrder: number;
}

/** Numbered on from what the turn has: the sequence is the chat's, whatever the program counts. */
async function added(session: ChatSession, draft: SavedStep, places: Map<string, Place>): Promise<StepRecord> {
  const { requestId } = draft;
  let place = places.get(requestId);
  if (!place) {
    const steps = await session.env.store.getSteps(requestId);
    place = {
      sequence: Math.max(0, ...steps.map(({ step }) => step.sequence)),
      beginOrder: Math.max(0, ...steps.map((record) => record.beginOrder)),
    };
    places.set(requestId, place);
  }
  place.sequence++;
  place.beginOrder++;
  const at = session.now;
  const step: Step = {
    stepId: draft.stepId ?? session.env.ids.id(),
    chatId: session.chatId,
    requestId,
    assistantId: draft.assistantId,
    stackId: draft.stackId,
    stackParentId: draft.stackParentId ?? null,
    stackDepth: draft.stackDepth ?? 0,
    type: draft.type,
    status: draft.status,
    input: draft.input ?? null,
    output: draft.output ?? null,
    spaceSnapshot: draft.spaceSnapshot ?? null,
    error: draft.error ?? null,
    sequence: place.sequence,
    metadata: draft.metadata ?? null,
    createdAt: at,
    updatedAt: at,
  };
  return { step, beginOrder: place.beginOrder };
}

function tell(session: ChatSession, step: Step): void {
  const type = step.status === 'pending' || step.status === 'running' ? 'step.started' : 'step.ended';
  session.emit({ type, requestId: step.requestId, step: summaryOf(step) });
}
