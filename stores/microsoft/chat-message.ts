import * as z from 'zod';
import { jsonObject, type JsonObject } from '../../protocol/index.js';
import { cleanCopy } from '../clean-copy.js';
import { withOneText } from '../shown-text.js';

/** One part of a message. Its kind stands under `type`, or under `$type` as .NET writes it; any kind is kept as it is. */
export interface ChatContent {
  /** `text`, `data`, `uri`, `functionCall`, `functionResult`, `error`… */
  readonly type?: string | undefined;
  readonly $type?: string | undefined;
  readonly [field: string]: unknown;
}

/** A message of the Agent Framework as JSON. Fields that are not named here are kept too. */
export interface ChatMessage {
  /** `system`, `user`, `assistant`, `tool`, or a word of your own. */
  readonly role: string;
  readonly contents: readonly ChatContent[];
  readonly messageId?: string | null | undefined;
  readonly authorName?: string | null | undefined;
  readonly additionalProperties?: JsonObject | null | undefined;
  readonly [field: string]: unknown;
}

const content = z
  .looseObject({ type: z.string().optional(), $type: z.string().optional() })
  .refine(({ type, $type }) => type !== undefined || $type !== undefined, { error: 'expected a type', path: ['type'] });

/** Its form; what JSON has no word for is no part of it. */
export const chatMessage: z.ZodType<ChatMessage> = z.looseObject({
  role: z.string().min(1),
  contents: z.array(content),
  messageId: z.string().nullable().optional(),
  authorName: z.string().nullable().optional(),
  additionalProperties: jsonObject.nullable().optional(),
});

/** Levels that a message may have, so that it fits into what is kept of it (DAT-2). */
const MAX_MESSAGE_DEPTH = 58;

/** A message of one text. */
export const textMessage = (role: string, text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  ...more,
  role,
  contents: [{ type: 'text', text }],
});

/** A copy as it is kept, with well-formed text (DAT-1). @throws {Error} of the class given, for what is no message */
export function readMessage(value: unknown, Fault: new (message: string) => Error): ChatMessage {
  const refusal = (reason: string): Error => new Fault(`This is no message: ${reason}`);
  const result = chatMessage.safeParse(cleanCopy(value, refusal, MAX_MESSAGE_DEPTH));
  if (result.success) return result.data;
  throw refusal(z.prettifyError(result.error));
}

/** The kind of a content, however it is spelled: `functioncall` for `functionCall` and `function_call`. */
const kindOf = ({ type, $type }: ChatContent): string => (type ?? $type ?? '').replaceAll('_', '').toLowerCase();

const isText = (part: ChatContent): part is ChatContent & { readonly text: string } =>
  kindOf(part) === 'text' && typeof part['text'] === 'string';

/** Its text contents, joined. */
export const textOf = ({ contents }: ChatMessage): string =>
  contents
    .filter(isText)
    .map(({ text }) => text)
    .join('');

/** What people see of it: its text, or else what its other contents say in short. */
export const shownOf = (message: ChatMessage): string =>
  message.contents.some(isText) ? textOf(message) : message.contents.map(inShort).join('\n');

function inShort(part: ChatContent): string {
  const { name, result, uri, mediaType } = part;
  switch (kindOf(part)) {
    case 'functioncall':
      return `${String(name)}(${JSON.stringify(part['arguments'] ?? {})})`;
    case 'functionresult':
      return typeof result === 'string' ? result : JSON.stringify(result ?? null);
    case 'uri':
      return String(uri);
    default:
      return `[${typeof mediaType === 'string' ? mediaType : (part.type ?? part.$type ?? '')}]`;
  }
}

/** The message with another text, which stands where its first one stood; its other contents stay. */
export function withText(message: ChatMessage, text: string): ChatMessage {
  const own = { ...(message.contents.find(isText) ?? { type: 'text' }), text };
  return { ...message, contents: withOneText<ChatContent>(message.contents, isText, own) };
}

/** Whether a list may begin with it: an answer lacks its question there, and the result of a call the call. */
export const mayBegin = ({ role, contents }: ChatMessage): boolean =>
  role !== 'assistant' && role !== 'tool' && !contents.some((part) => kindOf(part) === 'functionresult');

/** The id that the framework gave it. */
export function idOf(message: ChatMessage): string | null {
  const given = message.messageId ?? message['message_id'];
  return typeof given === 'string' && given !== '' ? given : null;
}
