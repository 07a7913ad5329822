import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.js';
import type { AttemptKey } from '../../ports/journal.js';
import { readLines } from './line.js';

/** `journal-00000001.jsonl`; padded for people, ordered by number. */
export const segmentName = (number: number): string => `journal-${String(number).padStart(8, '0')}.jsonl`;

const SEGMENT_NAME = /^journal-(\d+)\.jsonl$/;

/** Numbers of the segments among these file names, ascending. */
export const segmentNumbers = (names: readonly string[]): number[] =>
  names
    .flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

interface ReadAttempt {
  readonly entries: string[];
  /** Segments that hold them, ascending. */
  readonly segments: Set<number>;
}

export interface ReadSegments {
  readonly numbers: readonly number[];
  /** Begun and not forgotten, in the order of their beginning. */
  readonly live: ReadonlyMap<AttemptKey, ReadAttempt>;
  /** Forgotten, with the segments that hold what is left of them. */
  readonly forgotten: ReadonlyMap<AttemptKey, ReadAttempt>;
}

/**
 * Reads the segments before number `end`, one at a time: never more than one of them is in memory beside the entries.
 * A torn end of a segment is left out and said, as are the entries of an attempt whose beginning is missing.
 */
export async function readSegments(directory: string, end: number, log: Log): Promise<ReadSegments> {
  const numbers = segmentNumbers(await readdir(directory)).filter((number) => number < end);
  const live = new Map<AttemptKey, ReadAttempt>();
  const forgotten = new Map<AttemptKey, ReadAttempt>();
  const headless = new Set<AttemptKey>();
  for (const number of numbers) {
    const lines = readLines(await readFile(join(directory, segmentName(number))));
    let next = lines.next();
    for (; !next.done; next = lines.next()) {
      const { sign, attempt, entry } = next.value;
      const known = live.get(attempt);
      if (sign === '+') {
        forgotten.delete(attempt);
        live.delete(attempt);
        live.set(attempt, { entries: [entry], segments: new Set([number]) });
      } else if (sign === '-') {
        live.delete(attempt);
        if (known) forgotten.set(attempt, known);
      } else if (known) {
        known.entries.push(entry);
        known.segments.add(number);
      } else headless.add(attempt);
    }
    if (next.value > 0)
      log.warn({ segment: number, bytes: next.value }, 'A torn entry at the end of the journal is left out.');
  }
  if (headless.size > 0)
    log.warn({ attempts: [...headless] }, 'Journal entries of attempts whose beginning is missing are left out.');
  return { numbers, live, forgotten };
}

/** Makes what an earlier life left in the page cache survive a power cut as well. */
export async function syncSegment(directory: string, number: number): Promise<void> {
  const file = await open(join(directory, segmentName(number)), 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
