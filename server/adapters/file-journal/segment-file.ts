import { join } from 'node:path';
import type { JournalFiles } from './journal-files.js';
import { segmentName } from './read-segments.js';
import type { Unwritten } from './unwritten.js';

const LOST = 'The descriptor of the journal segment is lost.';

/** The segment being written: one descriptor that only appends. Every method throws what the device says. */
export class SegmentFile {
  /** Bytes in the file. */
  size = 0;
  /** Holds something that no fsync was asked for since. */
  dirty = false;
  /** Null once the system does not know it any more: its number may be another file's by now. */
  #fd: number | null;
  readonly #path: string;

  constructor(
    private readonly files: JournalFiles,
    private readonly directory: string,
    readonly number: number,
  ) {
    this.#path = join(directory, segmentName(number));
    this.#fd = files.openSync(this.#path, 'a');
    this.#syncDirectory();
  }

  /** Writes all of it. Where it throws, what is left starts exactly behind the bytes that the file has. */
  write(unwritten: Unwritten): void {
    for (let bytes = unwritten.front(); bytes; bytes = unwritten.front()) {
      const count = this.#append(bytes);
      unwritten.written(count);
      this.size += count;
      this.dirty = true;
    }
  }

  /** A new descriptor to the same end of the same file: the old one may be what is broken. */
  reopen(): void {
    const fd = this.files.openSync(this.#path, 'a');
    this.close();
    this.#fd = fd;
  }

  sync(done: (error: Error | null) => void): void {
    if (this.#fd === null) return done(new Error(LOST));
    this.dirty = false;
    this.files.fsync(this.#fd, (error) => {
      if (error) this.dirty = true;
      done(error);
    });
  }

  syncNow(): void {
    if (!this.dirty) return;
    this.files.fsyncSync(this.#descriptor());
    this.dirty = false;
  }

  empty(): void {
    this.files.ftruncateSync(this.#descriptor(), 0);
    this.size = 0;
    this.dirty = false;
  }

  close(): void {
    if (this.#fd !== null) this.#release(this.#fd);
    this.#fd = null;
  }

  #descriptor(): number {
    if (this.#fd === null) throw new Error(LOST);
    return this.#fd;
  }

  #append(bytes: Uint8Array): number {
    try {
      const count = this.files.writeSync(this.#descriptor(), bytes, 0, bytes.length);
      if (count === 0) throw new Error('The device takes no bytes.');
      return count;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EBADF') this.#fd = null;
      throw error;
    }
  }

  #release(fd: number): void {
    try {
      this.files.closeSync(fd);
    } catch {
      // A descriptor that cannot even be closed holds nothing that a sync has not been asked for.
    }
  }

  /** A file's name survives a power cut only with its directory. Where a system cannot sync one, it needs none. */
  #syncDirectory(): void {
    try {
      const fd = this.files.openSync(this.directory, 'r');
      this.files.fsync(fd, () => this.#release(fd));
    } catch {
      // Windows opens no directories.
    }
  }
}
