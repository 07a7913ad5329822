import { isJsonObject, SIGNAL_TYPE } from '../../protocol/index.js';
import { storable } from '../model/completion.js';
import { AssistantError } from '../assistant-error.js';
import { callOf, fileSaid, say, sourceSaid, textOf, type Part, type Said } from './said.js';

/** What a chunk of a UI message stream says; nothing where it says nothing to people. */
export function ofChunk(chunk: Part): Said[] {
  const id = textOf(chunk['id']);
  switch (chunk.type) {
    case 'text-delta':
      return [say.text('text', id, textOf(chunk['delta']))];
    case 'text-end':
      return [say.textEnd('text', id)];
    case 'reasoning-delta':
      return [say.text('thinking', id, textOf(chunk['delta']))];
    case 'reasoning-end':
      return [say.textEnd('thinking', id)];
    case 'tool-input-start':
      return [say.call({ what: 'begins', call: callOf(chunk) })];
    case 'tool-input-delta':
      return [
        say.call({ what: 'writes', toolCallId: textOf(chunk['toolCallId']), delta: textOf(chunk['inputTextDelta']) }),
      ];
    case 'tool-input-available':
      return [say.call({ what: 'input', call: callOf(chunk), input: chunk['input'] })];
    default:
      return outcomeOf(chunk);
  }
}

function outcomeOf(chunk: Part): Said[] {
  const toolCallId = textOf(chunk['toolCallId']);
  switch (chunk.type) {
    case 'tool-input-error':
      return [
        say.call({ what: 'input', call: callOf(chunk), input: chunk['input'] }),
        say.call({ what: 'error', toolCallId, error: textOf(chunk['errorText']) }),
      ];
    case 'tool-output-available':
      return [
        say.call({ what: 'output', toolCallId, output: chunk['output'], preliminary: chunk['preliminary'] === true }),
      ];
    case 'tool-output-error':
      return [say.call({ what: 'error', toolCallId, error: textOf(chunk['errorText']) })];
    case 'tool-output-denied':
      return [say.call({ what: 'error', toolCallId, error: 'denied' })];
    case 'source-url':
    case 'source-document':
      return sourceSaid(chunk);
    case 'file':
    case 'reasoning-file':
      return [fileSaid(textOf(chunk['url']), textOf(chunk['mediaType']))];
    case 'finish':
      return [{ kind: 'finish', reason: textOf(chunk['finishReason']) || null }];
    case 'error':
      return [{ kind: 'failed', error: new AssistantError('error', textOf(chunk['errorText']) || 'failed') }];
    case 'abort':
      return [{ kind: 'aborted' }];
    default:
      return chunk.type.startsWith('data-') ? [dataSaid(chunk)] : [];
  }
}

function dataSaid({ type, id, data, transient }: Part): Said {
  const name = type.slice('data-'.length);
  if (transient === true) return { kind: 'signal', name, data: storable(data ?? null) ?? null };
  const props = isJsonObject(data) ? data : { value: storable(data ?? null) ?? null };
  const key = typeof id === 'string' ? `${name} ${id}` : null;
  return { kind: 'message', type: name === SIGNAL_TYPE ? type : name, props, id: key };
}
