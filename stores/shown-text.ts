import type { Message } from '../protocol/index.js';

/** The text that people see; null for a message of another type. */
export function shownText({ type, props }: Message): string | null {
  const { content } = props;
  return type === 'text' && typeof content === 'string' ? content : null;
}

/** A message as words, for a framework that knows nothing else: its text, or the JSON of what it is. */
export const wordsOf = (message: Message): string => {
  const { type, props } = message;
  return shownText(message) ?? JSON.stringify({ type, props });
};

/** The parts with one text in place of all their texts: where the first of them stood, in front where there was none. */
export function withOneText<P>(parts: readonly P[], isText: (part: P) => boolean, text: P): P[] {
  const at = Math.max(0, parts.findIndex(isText));
  const others = (some: readonly P[]): P[] => some.filter((part) => !isText(part));
  return [...others(parts.slice(0, at)), text, ...others(parts.slice(at))];
}
