import * as z from 'zod';
import { assistantId, id, isoTime } from './ids.js';
import { json, jsonObject } from './json.js';
import { MAX_STACK_DEPTH } from './limits.js';
import { metadata, metadataWithout } from './metadata.js';
import { HANDLED, PRIVATE_STEP_KEYS, SAID } from './step-metadata.js';

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

export function summaryOf({ input: _input, output: _output, spaceSnapshot: _snapshot, ...summary }: Step): StepSummary {
  return { ...summary, metadata: metadataWithout(PRIVATE_STEP_KEYS, summary.metadata) };
}

/** Whether the step may run again: only a completed one never does. */
export const isIncomplete = (candidate: Pick<Step, 'status'>): boolean => candidate.status !== 'completed';

/** Whether its caller went on without it: a failed step that stands as it is (TRN-9). */
export const isHandled = ({ metadata }: Pick<Step, 'metadata'>): boolean => metadata?.[HANDLED] === true;
