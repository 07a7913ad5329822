import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openFileJournal } from '../../server/adapters/file-journal.js';
import { createLog } from '../../server/log.js';
import { startChild } from './child.js';
import { journalOnDisk, makeDirectory } from './journal-on-disk.js';
import { journalContract } from './journal.js';
import { manualClock } from './manual-clock.js';

journalContract('file journal', async () => {
  const directory = makeDirectory();
  return {
    // Each life has a clock of its own that nobody moves, so that a former life does nothing more.
    next: async () => openFileJournal({ directory, clock: manualClock(), log: createLog('silent') }),
    dispose: async () => fs.rmSync(directory, { recursive: true }),
  };
});

describe('file journal after a crash', () => {
  const { open, recover, said, path, directory } = journalOnDisk();

  const torn: [string, string | Buffer][] = [
    ['without its end', '=a.1\t{"text":"he'],
    ['whole JSON without a newline', '=a.1\t2'],
    ['that is not UTF-8', Buffer.from([0x3d, 0x61, 0x2e, 0x31, 0x09, 0x22, 0xc3, 0x22, 0x0a])],
    ['that is not JSON', '=a.1\t{"text":\n'],
    ['of zeros', Buffer.alloc(512)],
    ['of zeros with later lines behind it', Buffer.concat([Buffer.alloc(64), Buffer.from('\n=a.1\t3\n')])],
    ['without a tab', '=a.1\n'],
  ];
  it.each(torn)('LIF-2: a torn last entry %s is left out and said', async (_, bytes) => {
    const { journal } = open();
    journal.add('a.1', '1');
    journal.commit();
    fs.appendFileSync(path(), bytes);
    expect(await recover()).toEqual([{ attempt: 'a.1', entries: ['1'] }]);
    expect(said).toEqual(['A torn entry at the end of the journal is left out.']);
  });

  it('LIF-2: entries written after a torn one come back, since a new life begins a new segment', async () => {
    const before = open();
    before.journal.add('a.1', '1');
    before.journal.commit();
    fs.appendFileSync(path(), '=a.1\t{"tor');
    const { journal } = open();
    await journal.recover();
    journal.add('a.1', '2');
    journal.add('b.1', '1');
    journal.commit();
    expect(await recover()).toEqual([
      { attempt: 'a.1', entries: ['1', '2'] },
      { attempt: 'b.1', entries: ['1'] },
    ]);
  });

  it('LIF-2: entries of an attempt whose beginning is missing are left out and said', async () => {
    const { journal } = open();
    journal.add('a.1', '1');
    journal.commit();
    fs.appendFileSync(path(), '=b.1\t1\n');
    expect(await recover()).toEqual([{ attempt: 'a.1', entries: ['1'] }]);
    expect(said).toEqual(['Journal entries of attempts whose beginning is missing are left out.']);
  });

  it('LIF-2: kill -9 loses nothing that was committed', async () => {
    const child = startChild('journal-child.ts', directory());
    await child.until((output) => output.split('\n').length > 500);
    await child.kill();
    const announced = child.output().split('\n').slice(0, -1).map(Number);
    const [found] = await recover();
    const written = found!.entries.map((entry) => (JSON.parse(entry) as { number: number }).number);
    expect(written.slice(0, announced.length)).toEqual(announced);
    expect(written).toEqual(written.map((_, index) => index + 1));
  });
});
