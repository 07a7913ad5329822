import * as z from 'zod';
import { onBusy } from '../commands.js';
import { metadata } from '../metadata.js';
import { ChatError } from '../error.js';
import { assistantId, id } from '../ids.js';
import { isJsonObject, json, type Json, type JsonObject } from '../json.js';
import { messageType, SIGNAL_TYPE, type InputMessage } from '../message.js';
import { parse } from '../parse.js';
import { UI } from './ui-message.js';

/**
 * What a `ChatTransport` sends: the AI SDK's fields, and ours beside them. Of `messages` only the last one is looked at:
 * what was said before is what the chat holds, not what a page says of it.
 */
export const uiRequest = z.looseObject({
  /** The chat. */
  id,
  messages: z.array(z.unknown()).optional(),
  /** In place of `messages`: the last one alone. */
  message: z.unknown().optional(),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().max(200).nullish(),
  assistantId: assistantId.optional(),
  onBusy: onBusy.optional(),
  /** The turn's. */
  metadata: metadata.optional(),
});

/** One UI message of a person, as the input of a turn. */
interface UiQuestion {
  readonly id: string;
  readonly input: readonly InputMessage[];
}

export interface UiRequest {
  readonly chatId: string;
  readonly assistantId: string | undefined;
  /** What goes with a start as it is. */
  readonly options: { readonly onBusy?: z.output<typeof onBusy>; readonly metadata?: JsonObject | null };
  readonly ask:
    | { readonly kind: 'submit' | 'edit'; readonly question: UiQuestion }
    /** The UI messages of the question and of the answer that is wanted anew; of the newest where neither is named. */
    | { readonly kind: 'regenerate'; readonly question: string | null; readonly answer: string | null };
}

/** @throws {ChatError} `bad_request` with `details.path` */
export function readUiRequest(body: unknown): UiRequest {
  const { id: chatId, messages, message, trigger, messageId, ...said } = parse(uiRequest, body);
  const { onBusy: busy, metadata: turnMetadata } = said;
  const common = {
    chatId,
    assistantId: said.assistantId,
    options: {
      ...(busy === undefined ? {} : { onBusy: busy }),
      ...(turnMetadata === undefined ? {} : { metadata: turnMetadata }),
    },
  };
  const last = messages?.at(-1) ?? message;
  const path = messages ? ['messages', messages.length - 1] : ['message'];
  if (trigger === 'regenerate-message')
    return { ...common, ask: { kind: 'regenerate', question: idOfQuestion(last), answer: messageId ?? null } };
  if (last === undefined) throw refused('messages', 'expected at least one message');
  const question = readQuestion(last, path);
  if (messageId !== undefined && messageId !== null && messageId !== question.id)
    throw refused('messageId', 'expected the id of the last message');
  return { ...common, ask: { kind: messageId === question.id ? 'edit' : 'submit', question } };
}

const refused = (path: string, message: string): ChatError =>
  new ChatError('bad_request', `${path}: ${message}`, { details: { path } });

const idOfQuestion = (message: unknown): string | null =>
  isJsonObject(message) && message['role'] === 'user' && typeof message['id'] === 'string' ? message['id'] : null;

const userMessage = z.looseObject({
  id,
  role: z.literal('user', { error: 'expected a message of the user: results of tools in the page are not taken' }),
  parts: z.array(z.unknown()).min(1).max(100),
  metadata: json.optional(),
});

const textPart = z.looseObject({ text: z.string() });
const filePart = z.looseObject({
  url: z.string().min(1),
  mediaType: z.string().min(1).max(200),
  filename: z.string().max(1000).nullish(),
});
const dataPart = z.looseObject({ data: json });
const partType = z.looseObject({ type: z.string() });
const dataName = messageType.refine((name) => name !== SIGNAL_TYPE, { error: 'a signal is not stored' });

/** @throws {ChatError} `bad_request` with the part's path */
function readQuestion(message: unknown, path: readonly PropertyKey[]): UiQuestion {
  const { id: uiId, parts, metadata: kept } = parse(userMessage, message, path);
  const [first, ...rest] = parts.map((part, index) => inputOf(part, [...path, 'parts', index])) as [InputMessage];
  const ui: Record<string, Json> = { id: uiId, ...(kept === undefined || kept === null ? {} : { metadata: kept }) };
  return { id: uiId, input: [{ ...first, metadata: { [UI]: ui } }, ...rest] };
}

function inputOf(part: unknown, path: readonly PropertyKey[]): InputMessage {
  const { type } = parse(partType, part, path);
  if (type === 'text') return { type, props: { content: parse(textPart, part, path).text } };
  if (type === 'file') {
    const { url, mediaType, filename } = parse(filePart, part, path);
    const named = filename === undefined || filename === null ? {} : { filename };
    return { type: mediaType.startsWith('image/') ? 'image' : 'file', props: { url, mediaType, ...named } };
  }
  if (!type.startsWith('data-')) throw refused([...path, 'type'].join('.'), 'expected text, file or data-…');
  const { data } = parse(dataPart, part, path);
  const name = parse(dataName, type.slice('data-'.length), [...path, 'type']);
  return { type: name, props: isJsonObject(data) ? data : { value: data } };
}
