import * as z from 'zod';
import { assistantId, id, isoTime, principalId } from './ids.js';
import { json } from './json.js';
import { metadata } from './metadata.js';
import { wellFormed } from './text.js';

const turnStatus = z.enum(['queued', 'running', 'completed', 'interrupted', 'failed']);
export type TurnStatus = z.infer<typeof turnStatus>;

/** Why an attempt ended otherwise than `completed`, with the status that goes with it. */
export const STOP_REASONS = {
  stopped: 'interrupted',
  superseded: 'interrupted',
  deleted: 'interrupted',
  agent_lost: 'interrupted',
  shutdown: 'interrupted',
  crashed: 'interrupted',
  timeout: 'interrupted',
  error: 'failed',
  agent_unavailable: 'failed',
} as const satisfies Record<string, TurnStatus>;
export type StopReason = keyof typeof STOP_REASONS;
const stopReason = z.enum(Object.keys(STOP_REASONS) as [StopReason, ...StopReason[]]);

/** What is longer is no sentence for people to read. */
export const MAX_TURN_ERROR_LENGTH = 10_000;

const text = z.string().max(MAX_TURN_ERROR_LENGTH).transform(wellFormed);

/** What went wrong in a turn, for people to read: a code of the assistant's own and a sentence. */
export const turnError = z.union([
  z.object({ code: text.default('error'), message: text }),
  text.transform((message) => ({ code: 'error', message })),
]);
export type TurnError = z.infer<typeof turnError>;

/** One request in a chat, over all its attempts. */
export const turn = z.object({
  requestId: id,
  chatId: id,
  assistantId,
  status: turnStatus,
  background: z.boolean(),
  attempt: z.int().min(1),
  stopReason: stopReason.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  usage: json.nullable(),
  metadata,
  createdBy: principalId,
  createdAt: isoTime,
  startedAt: isoTime.nullable(),
  endedAt: isoTime.nullable(),
});
export type Turn = z.infer<typeof turn>;

export const isEnded = (status: TurnStatus): boolean => status !== 'queued' && status !== 'running';

/** Whether it ended otherwise than completed: its next attempt may be started (TRN-9). */
export const isResumable = ({ status }: Pick<Turn, 'status'>): boolean => isEnded(status) && status !== 'completed';
