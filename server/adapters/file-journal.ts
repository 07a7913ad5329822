import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Timer } from '../clock.js';
import type { Log } from '../log.js';
import type { AttemptKey, Journal, JournaledAttempt } from '../ports/journal.js';
import { type JournalFiles, systemFiles } from './file-journal/journal-files.js';
import { forgetLine, line } from './file-journal/line.js';
import { readSegments, segmentName, segmentNumbers, syncSegment } from './file-journal/read-segments.js';
import { type Release, Retention } from './file-journal/retention.js';
import { SegmentFile } from './file-journal/segment-file.js';
import { Unwritten } from './file-journal/unwritten.js';

export interface FileJournalOptions {
  /** Made when it is missing. Only one journal may use it: see `claimDataDirectory`. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** What a power cut may cost at most. Default 100 (LIF-2). */
  readonly fsyncMs?: number;
  /** A segment that has grown beyond this is followed by a new one. Default 16 MiB. */
  readonly segmentBytes?: number;
  readonly files?: JournalFiles;
}

export interface FileJournal extends Journal {
  /** Bytes committed that the device has not taken yet; not bounded here: no turn begins while unhealthy, and pushes wait. */
  readonly unwrittenBytes: number;
  /** Segments kept, for a gauge. */
  readonly segments: number;
}

/** How long the device is left alone after it refused. */
const RETRY_MS = 200;

/**
 * A journal of append-only segments, `journal-<number>.jsonl` (docs/decisions/0020-journal.md). A commit is one write.
 *
 * @throws {Error} of the file system, where the directory or the first segment cannot be made.
 */
export function openFileJournal(options: FileJournalOptions): FileJournal {
  mkdirSync(options.directory, { recursive: true });
  const newest = segmentNumbers(readdirSync(options.directory)).at(-1) ?? 0;
  return new SegmentedJournal(options, newest + 1);
}

/**
 * How many attempts a journal holds that is not open: begun, and not known to be stored.
 * @param directory there need not be one
 */
export async function unsavedAttempts(directory: string, log: Log): Promise<number> {
  if (!existsSync(directory)) return 0;
  return (await readSegments(directory, Infinity, log)).live.size;
}

class SegmentedJournal implements FileJournal {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #files: JournalFiles;
  readonly #directory: string;
  readonly #fsyncMs: number;
  readonly #segmentBytes: number;
  /** Never one of an earlier life: behind a torn end nothing could be read. */
  #segment: SegmentFile;
  readonly #retention: Retention;
  readonly #first: number;
  /** Lines added since the last commit. */
  #added = '';
  readonly #unwritten = new Unwritten();
  readonly #failing = new Set<'write' | 'sync'>();
  #waiters: (() => void)[] = [];
  #timer: Timer | null = null;
  #syncing = false;
  #rotationDue = false;
  /** Segments that nobody needs, to be deleted once the markers that outlive them are written. */
  #spent: number[] = [];
  #closing: (() => void) | null = null;
  #closed = false;

  constructor(options: FileJournalOptions, first: number) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#files = options.files ?? systemFiles;
    this.#directory = options.directory;
    this.#fsyncMs = options.fsyncMs ?? 100;
    this.#segmentBytes = options.segmentBytes ?? 16 * 1024 * 1024;
    this.#first = first;
    this.#segment = new SegmentFile(this.#files, this.#directory, first);
    this.#retention = new Retention(first);
  }

  get healthy(): boolean {
    return this.#failing.size === 0;
  }

  get unwrittenBytes(): number {
    return this.#unwritten.bytes;
  }

  get segments(): number {
    return this.#retention.segments;
  }

  async recover(): Promise<JournaledAttempt[]> {
    const { numbers, live, forgotten } = await readSegments(this.#directory, this.#first, this.#log);
    for (const [attempt, { segments }] of live) for (const number of segments) this.#retention.restore(attempt, number);
    const kept = numbers.filter((number) => this.#retention.has(number));
    for (const [attempt, { segments }] of forgotten) {
      const left = kept.filter((number) => segments.has(number));
      this.#mark(this.#retention.restoreForgotten(attempt, left));
    }
    this.#spend(numbers.filter((number) => !kept.includes(number)));
    this.#write();
    await Promise.all(kept.map((number) => syncSegment(this.#directory, number)));
    return [...live].map(([attempt, { entries }]) => ({ attempt, entries }));
  }

  add(attempt: AttemptKey, entry: string): void {
    this.#added += line(this.#retention.add(attempt) ? '+' : '=', attempt, entry);
  }

  forget(attempt: AttemptKey): void {
    this.#apply(this.#retention.forget(attempt));
  }

  commit(): void {
    if (this.#closed) return;
    this.#unwritten.push(this.#added);
    this.#added = '';
    // While the device refuses, the retry timer decides when it is asked again.
    if (this.#failing.has('write')) return;
    this.#write();
    if (this.#rotationDue) this.#rotate();
  }

  writable(): Promise<void> {
    if (this.healthy) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Writes and syncs what it can. A device that still refuses is logged, not waited for. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.commit();
    this.#closed = true;
    this.#timer?.cancel();
    // The descriptor belongs to the running fsync until that ends.
    if (this.#syncing) await new Promise<void>((resolve) => (this.#closing = resolve));
    if (this.#retention.live > 0) this.#writeLast();
    this.#segment.close();
    if (this.#retention.live === 0) this.#spent.push(this.#segment.number);
    this.#deleteSpent();
  }

  #writeLast(): void {
    try {
      this.#segment.write(this.#unwritten);
      this.#segment.syncNow();
    } catch (err) {
      this.#log.error({ err, unwrittenBytes: this.unwrittenBytes }, 'The journal could not be written to its end.');
    }
  }

  #write(): void {
    try {
      this.#segment.write(this.#unwritten);
      this.#works('write');
    } catch (err) {
      this.#fails('write', err);
    }
    // A device that refuses may be full: then room comes before markers, whose attempts the session finds stored.
    if (this.#added === '' || this.#failing.has('write')) this.#deleteSpent();
    if (!this.healthy) this.#schedule(RETRY_MS);
    else if (this.#segment.dirty) this.#schedule(this.#fsyncMs);
  }

  /** One timer for all that happens later: markers, retries, fsync. It runs only while there is something to do. */
  #schedule(ms: number): void {
    if (this.#timer || this.#syncing || this.#closed) return;
    this.#timer = this.#clock.after(ms, () => this.#tick());
  }

  #tick(): void {
    this.#timer = null;
    if (!this.healthy) this.#reopen();
    if (this.#retention.live === 0) this.#empty();
    this.#write();
    if (this.#segment.dirty) this.#sync();
  }

  #reopen(): void {
    try {
      this.#segment.reopen();
    } catch (err) {
      this.#log.debug({ err }, 'The journal segment cannot be opened again.');
    }
  }

  /** Nothing is live, so nothing that was written or waits to be is needed. */
  #empty(): void {
    try {
      this.#segment.empty();
    } catch (err) {
      this.#log.debug({ err }, 'The journal segment cannot be emptied.');
      // It may end within a line, whose rest must follow.
      return;
    }
    this.#added = '';
    this.#unwritten.clear();
    this.#retention.reset();
    // A device that refused has to take something before turns begin again.
    if (!this.healthy) this.#unwritten.push(forgetLine('none'));
  }

  #sync(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#syncing = true;
    this.#segment.sync((err) => {
      this.#syncing = false;
      this.#closing?.();
      if (err) this.#fails('sync', err);
      else this.#works('sync');
      if (this.#closed) return;
      if (!err && this.#segment.size >= this.#segmentBytes) this.#rotate();
      if (!this.healthy) this.#schedule(RETRY_MS);
      else if (this.#segment.dirty || !this.#unwritten.empty) this.#schedule(this.#fsyncMs);
    });
  }

  /**
   * Goes on in a new segment, between two commits. What was written since the last fsync is synced before: behind a hole
   * in this segment the next one would tell a false story after a power cut.
   */
  #rotate(): void {
    this.#rotationDue = this.#added !== '' || !this.#unwritten.empty || this.#syncing;
    if (this.#rotationDue) return;
    const before = this.#segment;
    try {
      before.syncNow();
      this.#segment = new SegmentFile(this.#files, this.#directory, before.number + 1);
    } catch (err) {
      this.#log.warn({ err }, 'No new journal segment can be begun; the present one grows on.');
      return;
    }
    before.close();
    this.#apply(this.#retention.rotate(this.#segment.number));
  }

  #apply(release: Release): void {
    this.#mark(release.markers);
    this.#spend(release.segments);
  }

  /** Markers keep their place among the lines added, and need no commit of their own. */
  #mark(attempts: readonly AttemptKey[]): void {
    const lines = attempts.map(forgetLine).join('');
    if (this.#added === '') this.#unwritten.push(lines);
    else this.#added += lines;
  }

  #spend(numbers: readonly number[]): void {
    this.#spent.push(...numbers);
    this.#schedule(this.#fsyncMs);
  }

  #deleteSpent(): void {
    for (const number of this.#spent) {
      try {
        this.#files.unlinkSync(join(this.#directory, segmentName(number)));
      } catch (err) {
        // Should the next start find its attempts again, the session finds them stored.
        this.#log.warn({ err, segment: number }, 'A journal segment cannot be deleted.');
      }
    }
    this.#spent = [];
  }

  #fails(what: 'write' | 'sync', err: unknown): void {
    if (this.healthy) this.#log.error({ err, what }, 'The journal cannot be written; it is tried again.');
    this.#failing.add(what);
  }

  #works(what: 'write' | 'sync'): void {
    if (!this.#failing.delete(what) || !this.healthy) return;
    this.#log.info('The journal can be written again.');
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
