// Text that every database, every JSON parser and every screen can hold (DAT-1).

const ILL_FORMED = /\p{Surrogate}|\0/gu;

/** U+FFFD: what stands in the place of a character that is none (DAT-1). */
export const REPLACEMENT = '\uFFFD';

/** The text with each lone surrogate and each U+0000 replaced by U+FFFD. A well-formed text comes back as it is. */
export function wellFormed(text: string): string {
  return text.replace(ILL_FORMED, REPLACEMENT);
}

/**
 * Splits off a trailing high surrogate: the first half of a pair whose second half may still come.
 * `head + half === text`; `half` is empty or one UTF-16 unit.
 */
export function splitHalf(text: string): { head: string; half: string } {
  const last = text.charCodeAt(text.length - 1);
  const isHigh = last >= 0xd800 && last <= 0xdbff;
  return isHigh ? { head: text.slice(0, -1), half: text.slice(-1) } : { head: text, half: '' };
}

/** Length of a text in UTF-8 bytes. A lone surrogate counts three, as its replacement does. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}
