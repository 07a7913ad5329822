import { isJsonObject, type Json, type Message } from '../protocol/index.js';

type Said = Pick<Message, 'type' | 'props'>;

/** What an assistant does on its way to an answer. It was said to nobody: a model that reads it as words goes on in them. */
const UNSAID = new Set(['thinking', 'loading', 'tool_call']);

/** Whether a message that others wrote is part of a conversation, for frameworks that know words. */
export const isSaid = ({ type }: Said): boolean => !UNSAID.has(type);

/** Types whose `content` is text, or a list of parts with some. */
const SPOKEN = new Set(['text', 'user_input']);

/** The text that people see; null for a message that shows something else. */
export function shownText({ type, props }: Said): string | null {
  const { content } = props;
  if (!SPOKEN.has(type)) return null;
  if (typeof content === 'string') return content;
  const texts = Array.isArray(content) ? content.flatMap(textOfPart) : [];
  return texts.length === 0 ? null : texts.join('\n');
}

const textOfPart = (part: Json): string[] =>
  isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : [];

/** A message as words, for a framework that knows nothing else: its text, or the JSON of what it is. */
export const wordsOf = ({ type, props }: Said): string => shownText({ type, props }) ?? JSON.stringify({ type, props });

/** The parts with one text in place of all their texts: where the first of them stood, in front where there was none. */
export function withOneText<P>(parts: readonly P[], isText: (part: P) => boolean, text: P): P[] {
  const at = Math.max(0, parts.findIndex(isText));
  const others = (some: readonly P[]): P[] => some.filter((part) => !isText(part));
  return [...others(parts.slice(0, at)), text, ...others(parts.slice(at))];
}
