import { definedOf } from '../defined.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { AgUiMessage, AgUiPart } from './message.js';
import { callOf, isWords, resultOf, textOf, textProp } from './shown.js';

/** The key of a message's metadata under which stands what it was in AG-UI. */
export const AG_UI = 'agUi';

/** The metadata of a message that a client of AG-UI sent: its id there. Several messages of one id are parts of one. */
export const sentAs = (id: string): JsonObject => ({ [AG_UI]: { id } });

/** The id under which a client of AG-UI sent it; undefined where none did. */
export function sentId({ role, metadata }: Pick<Message, 'role' | 'metadata'>): string | undefined {
  const sent = role === 'user' ? metadata?.[AG_UI] : undefined;
  return isJsonObject(sent) ? textProp(sent, 'id') : undefined;
}

/**
 * Messages of a chat as a client of AG-UI holds them, in order.
 *
 * @param isEmptied of those that are begun anew after it: they keep their place and hold nothing yet
 */
export function agUiMessages(
  messages: readonly Message[],
  isEmptied: (message: Message) => boolean = () => false,
): AgUiMessage[] {
  const shown: AgUiMessage[] = [];
  const said = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const id = sentId(message);
    if (id === undefined || message.type === RESULT_TYPE) {
      shown.push(...asMessages(message, isEmptied(message)));
      continue;
    }
    const before = messages[index - 1];
    const last = shown.at(-1);
    if (before && sentId(before) === id && before.requestId === message.requestId && last?.role === 'user')
      shown.splice(-1, 1, { ...last, content: [...partsOf(last), partOf(message)] });
    // An id that stands already is somebody's mistake: it is shown all the same, under its own.
    else shown.push({ ...userMessage(message), id: said.has(id) ? message.messageId : id });
    said.add(id);
  }
  return shown;
}

function asMessages(message: Message, isEmptied: boolean): AgUiMessage[] {
  const { messageId: id, role, type, assistantId, props } = message;
  if (role === 'user') return [type === RESULT_TYPE ? clientResult(message) : userMessage(message)];
  switch (type) {
    case 'text':
    case 'user_input':
      return [
        { id, role, content: isEmptied ? '' : textOf(message), ...definedOf({ name: assistantId ?? undefined }) },
      ];
    case 'state':
      return [];
    case 'thinking':
      return [{ id, role: 'reasoning', content: isEmptied ? '' : textOf(message) }];
    case 'tool_call': {
      const call = callOf(message);
      const shown = isEmptied ? { ...call, function: { ...call.function, arguments: '' } } : call;
      return [{ id, role, toolCalls: [shown] }, ...resultOf(message)];
    }
    default:
      return [{ id, role: 'activity', activityType: type, content: props }];
  }
}

/** The type of an input that answers something an assistant showed; of AG-UI, what came of a call that the client ran. */
export const RESULT_TYPE = 'action_result';

function clientResult(message: Message): AgUiMessage {
  const { messageId, props } = message;
  const value = props['value'] ?? null;
  return {
    id: sentId(message) ?? messageId,
    role: 'tool',
    toolCallId: textProp(props, 'messageId') ?? messageId,
    content: typeof value === 'string' ? value : JSON.stringify(value),
  };
}

function userMessage(message: Message): Extract<AgUiMessage, { role: 'user' }> {
  const part = partOf(message);
  return { id: message.messageId, role: 'user', content: part.type === 'text' ? part.text : [part] };
}

const partsOf = ({ content }: Extract<AgUiMessage, { role: 'user' }>): readonly AgUiPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** What else a person says than words and files is shown as the JSON of its type and props. */
function partOf(message: Message): AgUiPart {
  const { type, props } = message;
  if (isWords(type)) return { type: 'text', text: textOf(message) };
  const url = type === 'image' || type === 'file' ? textProp(props, 'url') : undefined;
  if (url === undefined) return { type: 'text', text: JSON.stringify({ type, props }) };
  const mediaType = textProp(props, 'mediaType');
  const filename = textProp(props, 'filename');
  return {
    type: type === 'image' ? 'image' : fileType(mediaType ?? ''),
    source: sourceOf(url, mediaType),
    ...(filename === undefined ? {} : { metadata: { filename } }),
  };
}

function fileType(mediaType: string): 'audio' | 'video' | 'document' {
  if (mediaType.startsWith('audio/')) return 'audio';
  return mediaType.startsWith('video/') ? 'video' : 'document';
}

type Source = Exclude<AgUiPart, { type: 'text' }>['source'];

function sourceOf(url: string, mediaType: string | undefined): Source {
  const [, mimeType, value] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType !== undefined && value !== undefined) return { type: 'data', value, mimeType };
  return { type: 'url', value: url, ...definedOf({ mimeType: mediaType }) };
}
