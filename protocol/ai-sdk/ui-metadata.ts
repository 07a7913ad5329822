import { isEnded, type Turn } from '../turn.js';
import type { Json, JsonObject } from '../json.js';
import type { UiChunk } from './chunk.js';

/** The UI message that is a turn's answer, in all its attempts. No id of a person's message can be the same. */
export const answerIdOf = (requestId: string): string => `${requestId}.answer`;

/** The turn whose answer a UI message is; null for one that is none. */
export const turnOfAnswer = (uiMessageId: string): string | null =>
  /^([A-Za-z0-9_-]{1,64})\.answer$/.exec(uiMessageId)?.[1] ?? null;

/** What a UI message's metadata says of the turn whose answer it is, under `turnstream`. */
export function answerMetadata(turn: Turn): JsonObject {
  const { requestId, chatId, assistantId, attempt, status, createdAt } = turn;
  const end = { stopReason: turn.stopReason, error: turn.error, usage: turn.usage, endedAt: turn.endedAt };
  const known = isEnded(status) ? Object.entries(end).filter(([, value]) => value !== null) : [];
  const said = { requestId, chatId, assistantId, attempt, status, createdAt };
  return { turnstream: { ...said, ...Object.fromEntries<Json>(known as [string, Json][]) } };
}

/** Ends that somebody wanted: what was said until then is the answer. */
const WANTED = new Set(['stopped', 'superseded', 'deleted']);

/** The last chunks of the stream of a turn that has ended; the last one is the only terminator. */
export function ending(turn: Turn): UiChunk[] {
  const messageMetadata = answerMetadata(turn);
  const { status, stopReason, error } = turn;
  if (status === 'completed') return [{ type: 'finish', finishReason: 'stop', messageMetadata }];
  const told: UiChunk = { type: 'message-metadata', messageMetadata };
  if (stopReason !== null && WANTED.has(stopReason)) return [told, { type: 'abort', reason: stopReason }];
  return [told, { type: 'error', errorText: error?.message ?? `The answer was cut off: ${stopReason ?? 'error'}.` }];
}
