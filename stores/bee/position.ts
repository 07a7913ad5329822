/**
 * Where a message stands in a memory: a string of base-62 digits that sorts by code unit. A chat's sequences only grow, so
 * what is added at the end needs no position of its own, it stands where its sequence says; what is inserted gets one
 * between its neighbours.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
const MIDDLE = 'V';
/** Below every digit of a sequence's position, so that there is room in front of the first message. */
const LENGTHS = 'abcdefghijklmnop';
const MAX_LENGTH = 100_000;

/** The position of a message that was added at the end. It grows with the sequence and never ends with the lowest digit. */
export function positionOf(sequence: number): string {
  let digits = '';
  for (let rest = sequence; rest > 0; rest = Math.floor(rest / BASE)) digits = digit(rest % BASE) + digits;
  return `${LENGTHS[digits.length] ?? ''}${digits}${MIDDLE}`;
}

/** Whether a stored text can be one: somebody else may have written it. */
export const isPosition = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_LENGTH && /^[0-9A-Za-z]*[1-9A-Za-z]$/.test(text);

/**
 * A position above `before` and below `after`, where `before < after` and `after` does not end with the lowest digit.
 * Four or more inserts at the same place make it one digit longer.
 *
 * @param before empty for the front
 * @param name any text, that of the message: two programs that insert at the same place at the same time get two positions
 */
export function positionBetween(before: string, after: string, name: string): string {
  let shared = '';
  let low = digitAt(before, 0);
  let high = digitAt(after, 0);
  while (low === high) {
    shared += digit(low);
    low = digitAt(before, shared.length);
    high = digitAt(after, shared.length);
  }
  // No digit fits between neighbours: the lower one stays, and above it is room without a bound.
  while (high - low <= 1) {
    shared += digit(low);
    low = digitAt(before, shared.length);
    high = BASE;
  }
  return `${shared}${digit(Math.floor((low + high) / 2))}${name.replace(/[^0-9A-Za-z]/g, '').slice(-6)}${MIDDLE}`;
}

const digit = (value: number): string => DIGITS[value] ?? '';
const digitAt = (position: string, index: number): number => Math.max(0, DIGITS.indexOf(position[index] ?? '0'));
