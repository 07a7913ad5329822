import * as z from 'zod';
import { canonicalJson, type Json, type JsonObject, type Message, type SavedMessage } from '../../protocol/index.js';
import { keptForm, withForm } from '../kept-form.js';
import { isSaid, wordsOf } from '../shown-text.js';
import { namedRole, roleOf, speakerOf } from '../speaker.js';
import { chatMessage, idOf, shownOf, textMessage, withText, type ChatMessage } from './chat-message.js';

/**
 * What a message of a chat keeps of the framework's. In its place in the list stands it alone, unless a reducer wants it
 * otherwise: then `list`, where null is the message itself. One that has `left` the list has done so with all before it.
 */
const storedForm = z.object({
  message: chatMessage.optional(),
  list: z.array(chatMessage.nullable()).optional(),
  left: z.literal(true).optional(),
});
export type Standing = readonly (ChatMessage | null)[];

const ALONE: Standing = [null];

type StoredForm = z.infer<typeof storedForm>;

const storedOf = (row: Message): StoredForm => storedForm.safeParse(keptForm(row, 'microsoft')).data ?? {};

/** Messages of the framework are JSON by their making (`readMessage`), which their type cannot say. */
const withStored = (metadata: JsonObject | null, form: StoredForm): JsonObject =>
  withForm(metadata, 'microsoft', form as unknown as JsonObject);

/** A message to save. */
export function draftOf(
  messageId: string,
  message: ChatMessage,
  assistantId: string,
): SavedMessage & { messageId: string } {
  return { messageId, ...speakerOf(message.role, assistantId), ...bodyOf(message) };
}

/** What of a message changes with it. */
export const bodyOf = (message: ChatMessage): Pick<Message, 'type' | 'props' | 'metadata'> => ({
  type: 'text',
  props: { content: shownOf(message) },
  metadata: withStored(namedRole(message.role), { message }),
});

/** The metadata that give a message another standing, whatever else stands in them. */
export const withStanding = (row: Message, list: Standing): JsonObject =>
  withStored(row.metadata, { ...storedOf(row), list: [...list] });

/** The metadata that take it out of the list, with all that stands before it. */
export const withLeft = (row: Message): JsonObject => withStored(row.metadata, { ...storedOf(row), left: true });

/** Whether the list begins behind it. */
export const hasLeft = (row: Message): boolean => storedOf(row).left ?? false;

/** The metadata that put another message in the place of one: with its standing, and what others keep there. */
export function withMessage(row: Message, message: ChatMessage): JsonObject {
  const { role: _role, ...others } = row.metadata ?? {};
  return withStored({ ...others, ...namedRole(message.role) }, { ...storedOf(row), message });
}

/** What stands in the list for a message of the chat, itself as null. For what others did and did not say, nothing. */
export function standingOf(row: Message): Standing {
  const { message, list } = storedOf(row);
  return list ?? (message || isSaid(row) ? ALONE : []);
}

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
  if (message) return text === shownOf(message) ? message : withText(message, text);
  return textMessage(roleOf(row), text, {
    messageId: `${FOREIGN}${row.messageId}`,
    ...(row.assistantId === null ? {} : { authorName: row.assistantId }),
  });
}
