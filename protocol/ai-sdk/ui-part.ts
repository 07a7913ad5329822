import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { PartOrigin } from './chunk.js';
import { isMediaType, isSafeUrl, mediaTypeOf } from './media-type.js';

/** What a page is told a tool call came to so far; null: nothing yet. */
type ToolOutcome = { readonly output: Json; readonly preliminary: boolean } | { readonly errorText: string } | null;

/** One message as a part of a UI message. */
export type UiPart =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly dynamic: boolean;
      readonly providerExecuted: boolean;
      /** A text while the model still writes it. */
      readonly input: { readonly text: string } | { readonly value: Json };
      readonly outcome: ToolOutcome;
    }
  | { readonly kind: 'file'; readonly url: string; readonly mediaType: string; readonly more: JsonObject }
  | { readonly kind: 'source'; readonly sourceId: string; readonly url: string; readonly title: string | null }
  | {
      readonly kind: 'document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename: string | null;
    }
  | {
      readonly kind: 'data';
      readonly name: string;
      readonly data: JsonObject;
      /** It is of the moment, and no part of the message. */
      readonly transient: boolean;
    };
export type ToolPart = Extract<UiPart, { kind: 'tool' }>;

/** What a cut-off tool call says. */
const INTERRUPTED = 'interrupted';

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const isName = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';

/**
 * How a message shows in a UI message, whatever its props hold: what does not fit the type's form is carried as data. It
 * depends on nothing but the message, so that a stream, its replay and the history say the same.
 */
export function partOf({ messageId, type, props, state }: Message): UiPart {
  switch (type) {
    case 'text':
      return { kind: 'text', text: textIn(props['content']) };
    case 'thinking':
      return { kind: 'reasoning', text: textIn(props['content']) };
    case 'tool_call':
      return isName(props['tool']) ? toolPart(messageId, props['tool'], props, state) : dataPart(type, props);
    case 'image':
      return filePart(props, 'image/*') ?? dataPart(type, props);
    case 'audio':
      return filePart(props, 'audio/*') ?? dataPart(type, props);
    case 'video':
      return filePart(props, 'video/*') ?? dataPart(type, props);
    case 'file':
      return filePart(props, 'application/octet-stream') ?? dataPart(type, props);
    case 'source':
      return sourcePart(messageId, props) ?? dataPart(type, props);
    default:
      return dataPart(type, props);
  }
}

/** Where a part is found here: its message, and whose it is where that is another one's than the turn's. */
export function originOf({ messageId, assistantId }: Message, turnAssistantId: string | null, more: JsonObject = {}) {
  const other = assistantId !== null && assistantId !== turnAssistantId ? { assistantId } : {};
  return { turnstream: { messageId, ...other, ...more } } satisfies PartOrigin;
}

const dataPart = (name: string, data: JsonObject): UiPart => ({
  kind: 'data',
  name,
  data,
  transient: name === 'loading',
});

function filePart(props: JsonObject, otherwise: string): UiPart | null {
  const { url, mediaType, mimeType, filename, ...rest } = props;
  if (!isSafeUrl(url)) return null;
  const named = [mediaType, mimeType].find(isMediaType) ?? mediaTypeOf(url, filename) ?? otherwise;
  const { alt, caption, size } = rest;
  const more = Object.entries({ filename, alt, caption, size }).filter(([, value]) => value !== undefined);
  return { kind: 'file', url, mediaType: named, more: Object.fromEntries(more) as JsonObject };
}

function sourcePart(messageId: string, props: JsonObject): UiPart | null {
  const sourceId = isName(props['sourceId']) ? props['sourceId'] : messageId;
  const title = isName(props['title']) ? props['title'] : null;
  if (isSafeUrl(props['url'])) return { kind: 'source', sourceId, url: props['url'], title };
  const { mediaType, filename } = props;
  if (!isMediaType(mediaType) || title === null) return null;
  return { kind: 'document', sourceId, mediaType, title, filename: isName(filename) ? filename : null };
}

function toolPart(messageId: string, toolName: string, props: JsonObject, stands: Message['state']): ToolPart {
  const { toolCallId, state, input, inputText } = props;
  const told = outcomeOf(state, props);
  const isWritten = input === undefined && typeof inputText === 'string' && (told === null || 'errorText' in told);
  // Nobody writes on: what was written is no input.
  const outcome = told === null && isWritten && stands === 'closed' ? { errorText: INTERRUPTED } : told;
  return {
    kind: 'tool',
    toolCallId: isName(toolCallId) ? toolCallId : messageId,
    toolName,
    dynamic: props['dynamic'] === true,
    providerExecuted: props['providerExecuted'] === true,
    input: isWritten ? { text: inputText } : { value: input ?? {} },
    outcome,
  };
}

function outcomeOf(state: Json | undefined, { output, error }: JsonObject): ToolOutcome {
  if (state === 'completed') return { output: output ?? null, preliminary: false };
  if (state === 'failed') return { errorText: errorTextOf(error) };
  if (state === 'interrupted') return { errorText: INTERRUPTED };
  return output === undefined ? null : { output, preliminary: true };
}

function errorTextOf(error: Json | undefined): string {
  if (isName(error)) return error;
  if (isJsonObject(error) && isName(error['message'])) return error['message'];
  return error === undefined || error === null ? 'failed' : JSON.stringify(error);
}
