import {
  canonicalJson,
  isJsonObject,
  wellFormed,
  type Json,
  type JsonObject,
  type Message,
  type SavedMessage,
} from '../../protocol/index.js';
import { keptForm, withForm } from '../kept-form.js';
import { isSaid, withOneText, wordsOf } from '../shown-text.js';
import { namedRole, roleOf, speakerOf } from '../speaker.js';
import type { BeeFramework, BeeMessage, PlainMessage } from './framework.js';
import { isPosition, positionOf } from './position.js';
import { storedOf, valueFrom } from './stored-value.js';

/** The framework that a row's message is of. */
export type Messages<M extends BeeMessage> = Pick<BeeFramework<M, object, never>, 'plainOf' | 'messageFrom'>;

/** One message of a memory, and the chat's message that holds it. */
export interface Row<M extends BeeMessage> {
  messageId: string;
  message: M;
  /** What is, or will be, in its metadata, without the position. */
  bee: JsonObject;
  /** Where it stands; null until it is stored. */
  position: string | null;
  /** As the chat has it; null until it is stored. */
  stored: Message | null;
  /** What it was inserted between, until it is stored. Without `after` it was added at the end. */
  before: Row<M> | null;
  after: Row<M> | null;
  /** The server will never take it. */
  isRefused: boolean;
}

/** A message that is not stored yet. @throws {TypeError|RangeError} where its parts or meta cannot be stored */
export function newRow<M extends BeeMessage>(messages: Messages<M>, message: M, messageId: string): Row<M> {
  return {
    messageId,
    message,
    bee: beeOf(messages.plainOf(message)),
    position: null,
    stored: null,
    before: null,
    after: null,
    isRefused: false,
  };
}

/** Null for what others did and did not say. */
export function storedRow<M extends BeeMessage>(messages: Messages<M>, stored: Message): Row<M> | null {
  const kept = keptForm(stored, 'bee');
  if (!kept && !isSaid(stored)) return null;
  const bee = kept ?? {};
  const position = bee['position'];
  return {
    messageId: stored.messageId,
    message: messageOf(messages, bee, stored),
    bee,
    position: isPosition(position) ? position : positionOf(stored.sequence),
    stored,
    before: null,
    after: null,
    isRefused: false,
  };
}

/** Whether the chat's message still says what the row says. */
export const isUnchanged = (known: Message, { type, props, metadata }: Message): boolean =>
  known.type === type &&
  canonicalJson(known.props) === canonicalJson(props) &&
  canonicalJson(known.metadata) === canonicalJson(metadata);

/** In the order of the memory: by position, and by sequence where two programs chose the same one. */
export const inOrder = <M extends BeeMessage>(rows: readonly Row<M>[]): Row<M>[] =>
  [...rows].sort(
    (a, b) => compare(a.position ?? '', b.position ?? '') || (a.stored?.sequence ?? 0) - (b.stored?.sequence ?? 0),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What is saved for a row: the text for people, the rest for the framework. */
export function draftOf<M extends BeeMessage>(
  row: Row<M>,
  position: string | null,
  assistantId: string,
): SavedMessage & { metadata: JsonObject } {
  const { role, text } = row.message;
  const meta = row.bee['meta'];
  return {
    messageId: row.messageId,
    ...speakerOf(role, assistantId),
    type: 'text',
    props: { content: text },
    metadata: withForm(namedRole(role), 'bee', { ...row.bee, ...(position === null ? {} : { position }) }),
    ...createdAt(isJsonObject(meta) ? (meta['createdAt'] ?? null) : null),
  };
}

function createdAt(stored: Json): { createdAt?: string } {
  const at = isJsonObject(stored) && stored['$bee'] === 'date' ? stored['value'] : null;
  // Years beyond 9999 are no times of the protocol.
  return typeof at === 'string' && /^\d{4}-/.test(at) ? { createdAt: at } : {};
}

const beeOf = ({ role, id, parts, meta }: PlainMessage): JsonObject => ({
  role,
  ...(id === undefined ? {} : { id }),
  ...(parts === undefined ? {} : { parts: storedOf(parts) }),
  ...(meta === undefined ? {} : { meta: storedOf(meta) }),
});

/**
 * The framework's message for one of the chat: as it was added here, with the text that it has now; or made of role,
 * type and props for what others wrote.
 */
function messageOf<M extends BeeMessage>(messages: Messages<M>, bee: JsonObject, stored: Message): M {
  if (typeof bee['role'] === 'string') {
    try {
      return messages.messageFrom(plainFrom(bee, bee['role'], wordsOf(stored)));
    } catch {
      // Somebody else wrote what stands there. The message is read as any other one.
    }
  }
  // Of the other roles only this one needs nothing beside its text.
  const role = roleOf(stored) === 'system' ? 'system' : stored.role;
  return messages.messageFrom({ role, text: wordsOf(stored), meta: { createdAt: new Date(stored.createdAt) } });
}

/** @throws {Error} for what `beeOf` did not write */
function plainFrom(bee: JsonObject, role: string, text: string): PlainMessage {
  const { id, parts, meta } = bee;
  const read = parts === undefined ? undefined : valueFrom(parts);
  const readMeta = meta === undefined ? undefined : valueFrom(meta);
  return {
    role,
    text,
    ...(typeof id === 'string' ? { id } : {}),
    ...(Array.isArray(read) ? { parts: withText(read as unknown[], text) } : {}),
    ...(isJsonObject(readMeta) ? { meta: readMeta } : {}),
  };
}

/** The parts, where the text that people see is not theirs any more with that text. */
function withText(parts: readonly unknown[], text: string): unknown[] {
  const own = parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('');
  if (own === text || wellFormed(own) === text) return [...parts];
  return withOneText(parts, isTextPart, { type: 'text', text });
}

const isTextPart = (part: unknown): part is { readonly text: string } =>
  isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string';
