import {
  isJsonObject,
  type Json,
  type JsonObject,
  type SavedStep,
  type Step as StepRow,
  type StepStatus,
  type StepType,
} from '../../protocol/index.js';
import { mustBeGiven } from './error.js';
import { given } from './given.js';

/** A step in the seed's form: what is not there is left out. */
export interface Step {
  readonly stepId: string;
  readonly chatId: string;
  readonly requestId: string;
  readonly assistantId: string;
  readonly stackId: string;
  readonly stackParentId?: string;
  readonly stackDepth: number;
  readonly type: StepType;
  readonly status: StepStatus;
  readonly input?: Json;
  readonly output?: Json;
  /** The space as it was, for `SpaceStore.restore`. */
  readonly spaceSnapshot?: JsonObject;
  readonly error?: string;
  /** Counted by the chat's writer within the request. */
  readonly sequence: number;
  readonly metadata?: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A step to save; its sequence and times are the store's, whatever it says of them itself. */
export interface NewStep {
  /** Default: a new one. The same step again, under the same id, is changed; a completed one stays as it is. */
  readonly stepId?: string | null;
  readonly chatId: string;
  readonly requestId: string;
  readonly assistantId: string;
  readonly stackId: string;
  readonly stackParentId?: string | null;
  readonly stackDepth?: number | null;
  readonly type: string;
  readonly status: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly spaceSnapshot?: Readonly<Record<string, unknown>> | null;
  readonly error?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

const REQUIRED = {
  chatId: 'chat_id',
  requestId: 'request_id',
  assistantId: 'assistant_id',
  stackId: 'stack_id',
  type: 'type',
  status: 'status',
} as const;

export function stepOf(row: StepRow): Step {
  const { stackParentId, input, output, spaceSnapshot, error, metadata, ...rest } = row;
  return {
    ...rest,
    ...given({ stackParentId, spaceSnapshot, metadata, error: errorText(error) }),
    ...(input === null ? {} : { input }),
    ...(output === null ? {} : { output }),
  };
}

/** The seed has a text here; what an assistant of ours kept of an error is an object with a message, or any JSON. */
function errorText(error: Json): string | null {
  if (error === null || typeof error === 'string') return error;
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : JSON.stringify(error);
}

/** @throws {YaoStoreError} `bad_request` for one of which any of the six required fields is missing */
export function savedStepOf(step: NewStep): SavedStep {
  for (const [key, field] of Object.entries(REQUIRED)) mustBeGiven(step[key as keyof typeof REQUIRED], field);
  const { stepId, requestId, assistantId, stackId, stackParentId, stackDepth, type, status } = step;
  const { input, output, spaceSnapshot, error, metadata } = step;
  return {
    ...given({ stepId, stackParentId, stackDepth, input, output, spaceSnapshot, error, metadata }),
    requestId,
    assistantId,
    stackId,
    type,
    status,
  } as SavedStep; // Of which type and status, and how deep its values are, is for the schema to judge.
}
