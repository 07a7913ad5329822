import * as fs from 'node:fs';

/** What the journal asks of a file system, so that a test can bring one that fails. */
export interface JournalFiles {
  openSync(path: string, flags: string): number;
  /** May write less than it was given; answers how much. */
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number): number;
  fsync(fd: number, done: (error: Error | null) => void): void;
  fsyncSync(fd: number): void;
  ftruncateSync(fd: number, length: number): void;
  closeSync(fd: number): void;
  unlinkSync(path: string): void;
}

export const systemFiles: JournalFiles = fs;
