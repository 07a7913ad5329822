import * as z from 'zod';
import { metadata, metadataWithout } from './chat.js';
import { assistantId, id, isoTime } from './ids.js';
import { json, jsonObject } from './json.js';
import { MAX_STACK_DEPTH } from './limits.js';

export const stepType = z.enum(['input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate']);
export type StepType = z.infer<typeof stepType>;

export const stepStatus = z.enum(['pending', 'running', 'completed', 'failed', 'interrupted']);
export type StepStatus = z.infer<typeof stepStatus>;

/** One recorded unit of execution. */
export const step = z.object({
  stepId: id,
  chatId: id,
  requestId: id,
  assistantId,
  stackId: id,
  stackParentId: id.nullable(),
  stackDepth: z.int().min(0),
  type: stepType,
  status: stepStatus,
  input: json.nullable(),
  output: json.nullable(),
  spaceSnapshot: jsonObject.nullable(),
  error: json.nullable(),
  sequence: z.int().min(1),
  metadata,
  createdAt: isoTime,
  updatedAt: isoTime,
});
export type Step = z.infer<typeof step>;

/** What others may say of a step: what the server alone writes is left out. */
export const givenStepMetadata = metadata.transform((given) => metadataWithout([SAID], given));

/** A step that ran elsewhere, as a program that keeps its steps here gives it. */
export const savedStep = z.object({
  /** Names it for good: what is saved again under its id changes it. */
  stepId: id.optional(),
  requestId: id,
  assistantId,
  stackId: id,
  stackParentId: id.nullable().optional(),
  stackDepth: z.int().min(0).max(MAX_STACK_DEPTH).optional(),
  type: stepType,
  status: stepStatus,
  input: json.optional(),
  output: json.optional(),
  spaceSnapshot: jsonObject.nullable().optional(),
  error: json.optional(),
  metadata: givenStepMetadata.optional(),
});
export type SavedStep = z.infer<typeof savedStep>;

/** A step as events carry it: without what may hold prompts and secrets. */
export const stepSummary = step.omit({ input: true, output: true, spaceSnapshot: true });
export type StepSummary = z.infer<typeof stepSummary>;

/** The metadata key that is true in a failed step whose caller went on: no resume runs it again (TRN-9). */
export const HANDLED = 'handled';

/** The metadata key of a delegate step under which it names the stack that it calls. */
export const CHILD_STACK = 'childStackId';

/**
 * The metadata key under which a completed step of a call that is not shown keeps the messages it had sent: they stand
 * nowhere else, and a resumed call answers with them. The server alone writes it.
 */
export const SAID = 'said';

/** The metadata key of what a step wrote to the space, for a resumed run that does not run it again. */
export const WROTE = 'wrote';

/** What of a step's metadata is in no event, as its input and output are in none. */
const PRIVATE_KEYS = [SAID, WROTE];

export function summaryOf({ input: _input, output: _output, spaceSnapshot: _snapshot, ...summary }: Step): StepSummary {
  return { ...summary, metadata: metadataWithout(PRIVATE_KEYS, summary.metadata) };
}

/** Whether the step may run again: only a completed one never does. */
export const isIncomplete = (candidate: Pick<Step, 'status'>): boolean => candidate.status !== 'completed';
