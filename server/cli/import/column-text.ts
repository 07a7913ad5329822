/** Marks, in the text of a value, bytes that were no UTF-8: they have become U+FFFD. Nothing well-formed holds it. */
const BROKEN_BYTES = '\uD800';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of a value's bytes; where they are none, the mark that {@link unmarked} finds is at its end. */
export function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return lenient.decode(bytes) + BROKEN_BYTES;
  }
}

/** The text without the mark; null where it has none. */
export const unmarked = (text: string): string | null =>
  text.endsWith(BROKEN_BYTES) ? text.slice(0, -BROKEN_BYTES.length) : null;
