import { isUtf8 } from 'node:buffer';
import type { AttemptKey } from '../../ports/journal.js';

/**
 * One line of a segment: `<sign><attemptKey>\t<entry>\n`. The sign lets the reader tell an attempt whose beginning is
 * missing, without knowing what entries say.
 */
export interface JournalLine {
  readonly sign: Sign;
  readonly attempt: AttemptKey;
  readonly entry: string;
}

/** `+` begins an attempt, `=` goes on with it, `-` forgets it. */
export type Sign = '+' | '=' | '-';

export const line = (sign: Sign, attempt: AttemptKey, entry: string): string => `${sign}${attempt}\t${entry}\n`;

export const forgetLine = (attempt: AttemptKey): string => line('-', attempt, 'null');

/** Lines of a segment up to the first that is not whole, and how many bytes were left out from there on. */
export function* readLines(bytes: Buffer): Generator<JournalLine, number> {
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(0x0a, start);
    const read = end < 0 ? null : parseLine(bytes.subarray(start, end));
    // What follows a broken line was written after it and may lack just what the line said: a prefix is the truth, a hole is not.
    if (!read) return bytes.length - start;
    yield read;
    start = end + 1;
  }
  return 0;
}

function parseLine(bytes: Buffer): JournalLine | null {
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString('utf8');
  const tab = text.indexOf('\t');
  const sign = text[0];
  if (tab < 2 || (sign !== '+' && sign !== '=' && sign !== '-')) return null;
  const entry = text.slice(tab + 1);
  return isJson(entry) ? { sign, attempt: text.slice(1, tab), entry } : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
