import * as z from 'zod';
import {
  canonicalJson,
  cleanJson,
  type Json,
  type JsonObject,
  type Message,
  type SavedMessage,
} from '../../protocol/index.js';
import { wordsOf } from '../shown-text.js';
import { namedRole, roleOf, speakerOf } from '../speaker.js';
import { chatMessage, idOf, shownText, textMessage, withText, type ChatMessage } from './chat-message.js';

/** More than one message stands for by any reducer; a forged list costs no more. */
const MAX_STANDING = 100;

/**
 * What a message of a chat keeps of the framework's. In its place in the list stands it alone, unless a reducer wants it
 * otherwise: then `list`, where null is the message itself.
 */
const storedForm = z.object({
  message: chatMessage.optional(),
  list: z.array(chatMessage.nullable()).max(MAX_STANDING).optional(),
});
export type Standing = readonly (ChatMessage | null)[];

const ALONE: Standing = [null];

/** Whether somebody who may only talk in the chat can have written it, metadata and all: the input of a turn. */
export const isTalkers = ({ role, requestId }: Pick<Message, 'role' | 'requestId'>): boolean =>
  role === 'user' && requestId !== null;

function storedOf(row: Message): z.infer<typeof storedForm> {
  const form = storedForm.safeParse(row.metadata?.['microsoft']);
  if (!form.success) return {};
  const { message, list } = form.data;
  if (!isTalkers(row)) return form.data;
  // Such a one speaks as a user and as nobody else.
  const isTheirs = (one: ChatMessage | null): boolean => one === null || one.role === 'user';
  return {
    ...(message && isTheirs(message) ? { message } : {}),
    ...(list ? { list: list.filter(isTheirs) } : {}),
  };
}

/** A message to save. */
export function draftOf(
  messageId: string,
  message: ChatMessage,
  assistantId: string,
): SavedMessage & { messageId: string } {
  return { messageId, ...speakerOf(message.role, assistantId), ...bodyOf(message) };
}

/** What of a message changes with it. */
export const bodyOf = (
  message: ChatMessage,
): Pick<SavedMessage, 'type' | 'props'> & { metadata: SavedMessage['metadata'] } => ({
  type: 'text',
  props: { content: shownText(message) },
  metadata: {
    ...namedRole(message.role),
    // Made of JSON by `readMessage`, which its type cannot say.
    microsoft: { message: message as unknown as Json },
  },
});

/** The metadata that give a message another standing, whatever else stands in them. */
export const withStanding = (row: Message, list: Standing): SavedMessage['metadata'] =>
  metadataOf({ ...row.metadata, microsoft: { ...storedOf(row), list } });

/** The metadata that put another message in the place of one: with its standing, and what others keep there. */
export function withMessage(row: Message, message: ChatMessage): SavedMessage['metadata'] {
  const { role: _role, ...others } = row.metadata ?? {};
  return metadataOf({ ...others, ...bodyOf(message).metadata, microsoft: { ...storedOf(row), message } });
}

/** It is JSON by its parts, which their types cannot say. */
const metadataOf = (metadata: object): SavedMessage['metadata'] => cleanJson(metadata) as JsonObject;

/** What stands in the list for a message of the chat: its own first, as null. */
export const standingOf = (row: Message): Standing => storedOf(row).list ?? ALONE;

/** Whether the framework wrote it. */
export const isOwn = (row: Message): boolean => storedOf(row).message !== undefined;

/** Ids of what others wrote, as the framework knows them: apart from those that it makes. */
const FOREIGN = 'turnstream:';

/** Whether a message that comes from the framework was given to it from a chat, where others had written it. */
export const isForeign = (message: ChatMessage): boolean => idOf(message)?.startsWith(FOREIGN) ?? false;

const keptOf = (row: Message): ChatMessage => storedOf(row).message ?? messageOf(row);

/** The id by which the framework knows it. */
export const ownIdOf = (row: Message): string | null => idOf(keptOf(row));

/** Whether it is what the chat keeps, whatever people have changed since. */
export const isKept = (row: Message, message: ChatMessage): boolean =>
  canonicalJson(keptOf(row) as unknown as Json) === canonicalJson(message as unknown as Json);

/** A message of the chat as the framework has it. What others wrote is text; what people edited has their text. */
export function messageOf(row: Message): ChatMessage {
  const { message } = storedOf(row);
  const text = wordsOf(row);
  if (message) return text === shownText(message) ? message : withText(message, text);
  return textMessage(roleOf(row), text, {
    messageId: `${FOREIGN}${row.messageId}`,
    ...(row.assistantId === null ? {} : { authorName: row.assistantId }),
  });
}
