import type { LanguageModelUsage } from 'ai';
import type { Json } from '../../protocol/index.js';
import { usageOf } from '../model/completion.js';
import { callOf, errorWords, fileSaid, say, sourceSaid, textOf, type Part, type Said } from './said.js';

/** Parts that no UI message stream has. */
const OF_MODELS = new Set(['tool-call', 'tool-result', 'tool-error', 'source', 'raw']);
/** Both streams have parts of these types; a model's has this field. */
const FIELDS: Readonly<Record<string, string>> = {
  'text-delta': 'text',
  'reasoning-delta': 'text',
  'tool-input-start': 'id',
  'tool-input-delta': 'id',
  file: 'file',
  'reasoning-file': 'file',
  'finish-step': 'usage',
  finish: 'totalUsage',
  error: 'error',
};

/** Whether a part is one of a model's own stream, not of a UI message stream. */
export const isModelPart = (part: Part): boolean => OF_MODELS.has(part.type) || (FIELDS[part.type] ?? '/') in part;

/** What a part of `streamText`'s own stream says; nothing where it says nothing to people. */
export function ofPart(part: Part): Said[] {
  const id = textOf(part['id']);
  switch (part.type) {
    case 'text-delta':
      return [say.text('text', id, textOf(part['text']))];
    case 'text-end':
      return [say.textEnd('text', id)];
    case 'reasoning-delta':
      return [say.text('thinking', id, textOf(part['text']))];
    case 'reasoning-end':
      return [say.textEnd('thinking', id)];
    case 'tool-input-start':
      return [say.call({ what: 'begins', call: callOf(part) })];
    case 'tool-input-delta':
      return [say.call({ what: 'writes', toolCallId: id, delta: textOf(part['delta']) })];
    case 'tool-call':
      return [say.call({ what: 'input', call: callOf(part), input: part['input'] })];
    default:
      return outcomeOf(part);
  }
}

function outcomeOf(part: Part): Said[] {
  const toolCallId = textOf(part['toolCallId']);
  switch (part.type) {
    case 'tool-result':
      return [
        say.call({ what: 'output', toolCallId, output: part['output'], preliminary: part['preliminary'] === true }),
      ];
    case 'tool-error':
      return [say.call({ what: 'error', toolCallId, error: errorWords(part['error']) })];
    case 'tool-output-denied':
      return [say.call({ what: 'error', toolCallId, error: 'denied' })];
    case 'source':
      return sourceSaid(part);
    case 'file':
    case 'reasoning-file': {
      const { base64, mediaType } = part['file'] as { base64: string; mediaType: string };
      return [fileSaid(`data:${mediaType};base64,${base64}`, mediaType)];
    }
    case 'finish-step':
      return [{ kind: 'usage', usage: usageIn(part['usage']) }];
    case 'finish':
      return [{ kind: 'finish', reason: textOf(part['finishReason']) }];
    case 'error':
      return [{ kind: 'failed', error: part['error'] }];
    case 'abort':
      return [{ kind: 'aborted' }];
    default:
      return [];
  }
}

/** Older majors of the SDK count without details. */
function usageIn(usage: unknown): Json {
  const details = { inputTokenDetails: {}, outputTokenDetails: {} };
  const counted = usageOf({ ...details, ...(usage as object) } as LanguageModelUsage);
  return counted && { ...counted };
}
