/**
 * Appends are tokens of eight characters: a space and a number of seven base-36 digits. It is either a running number or
 * the microsecond at which the token was due, on the clock that all processes of a machine share.
 */

export const TOKEN_LENGTH = 8;
export const MICROS_PER_SECOND = 1_000_000;
const DIGITS = 7;
/** Times come round after 21 hours. */
const MODULO = 36 ** DIGITS;

export const microsNow = (): number => Number(process.hrtime.bigint() / 1000n);

export const numberToken = (number: number): string => ` ${number.toString(36).padStart(DIGITS, '0')}`;

export const dueToken = (micros: number): string => numberToken(Math.round(micros) % MODULO);

/** Milliseconds from when a token was due until `now`. */
export const delayOf = (due: number, now: number): number => ((now % MODULO) - due) / 1000;

/** The number of the token that starts at `at`, or of another mark of eight characters; NaN for what is none. */
export function tokenAt(bytes: Buffer, at: number, lead = 0x20): number {
  if (bytes[at] !== lead) return Number.NaN;
  let number = 0;
  for (let i = at + 1; i <= at + DIGITS; i++) {
    const unit = bytes[i] ?? 0;
    const digit = unit >= 0x61 && unit <= 0x7a ? unit - 0x57 : unit >= 0x30 && unit <= 0x39 ? unit - 0x30 : Number.NaN;
    number = number * 36 + digit;
  }
  return number;
}
