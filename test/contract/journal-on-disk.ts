import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type FileJournalOptions, openFileJournal } from '../../server/adapters/file-journal.js';
import type { JournalFiles } from '../../server/adapters/file-journal/journal-files.js';
import { createLog } from '../../server/log.js';
import { manualClock } from './manual-clock.js';

export const makeDirectory = () => fs.mkdtempSync(join(tmpdir(), 'turnstream-journal-'));

/** A device whose failures a test decides. Its fsync answers at once, so that time is the manual clock's alone. */
export function failingFiles() {
  const device = {
    /** The code that every write fails with. */
    writeFails: null as string | null,
    syncFails: null as string | null,
    truncateFails: null as string | null,
    /** How many bytes it takes before it is full. */
    room: Infinity,
    syncs: 0,
    fail: (code: string) => Object.assign(new Error(code), { code }),
  };
  const files: JournalFiles = {
    ...fs,
    writeSync(fd, bytes, offset, length) {
      if (device.writeFails) throw device.fail(device.writeFails);
      if (device.room === 0) throw device.fail('ENOSPC');
      const count = fs.writeSync(fd, bytes, offset, Math.min(length, device.room));
      device.room -= count;
      return count;
    },
    ftruncateSync(fd, length) {
      if (device.truncateFails) throw device.fail(device.truncateFails);
      fs.ftruncateSync(fd, length);
    },
    fsync(fd, done) {
      if (!fs.fstatSync(fd).isDirectory()) device.syncs += 1;
      done(device.syncFails ? device.fail(device.syncFails) : null);
    },
  };
  return { device, files };
}

/** A directory for each test, and journals in it, each with a clock and a device of its own. */
export function journalOnDisk() {
  let directory = '';
  const said: string[] = [];
  beforeEach(() => {
    directory = makeDirectory();
    said.length = 0;
  });
  afterEach(() => fs.rmSync(directory, { recursive: true }));

  const log = createLog('info', { write: (text) => void said.push((JSON.parse(text) as { msg: string }).msg) });
  const segments = () => fs.readdirSync(directory).sort();
  return {
    /** What was logged, in order. */
    said,
    segments,
    path: (segment = segments()[0] ?? '') => join(directory, segment),
    directory: () => directory,
    sizes: () => segments().map((name) => fs.statSync(join(directory, name)).size),
    /** Opens a new life; the former one does nothing more, because nobody moves its clock. */
    open: (options: Partial<FileJournalOptions> = {}) => {
      const clock = manualClock();
      const { device, files } = failingFiles();
      return { clock, device, journal: openFileJournal({ directory, clock, log, files, ...options }) };
    },
    /** What a new life finds. */
    recover: () => openFileJournal({ directory, clock: manualClock(), log }).recover(),
    clear: () => fs.rmSync(directory, { recursive: true }),
  };
}

/** An entry of so many bytes. */
export const entryOf = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
