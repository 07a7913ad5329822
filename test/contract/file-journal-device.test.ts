import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryOf, journalOnDisk } from './journal-on-disk.js';

describe('file journal on its device', () => {
  const { open, recover, said, segments, sizes, path } = journalOnDisk();

  it('LIF-2: a device without room: nothing is torn or doubled, and writing goes on at the very byte', async () => {
    const { journal, device, clock } = open();
    journal.add('a.1', '"ä begins"');
    journal.commit();
    device.room = 9;
    journal.add('a.1', '"grün"');
    journal.commit();
    expect(journal.healthy).toBe(false);
    const writable = journal.writable();
    journal.add('a.1', '"later"');
    journal.commit();
    expect(journal.unwrittenBytes).toBe(Buffer.byteLength('=a.1\t"grün"\n=a.1\t"later"\n') - 9);
    clock.advance(1_000);
    expect(journal.healthy).toBe(false);
    device.room = 3;
    clock.advance(200);
    expect(journal.healthy).toBe(false);
    device.room = Infinity;
    clock.advance(200);
    expect(journal.healthy).toBe(true);
    expect(journal.unwrittenBytes).toBe(0);
    await writable;
    expect(await recover()).toEqual([{ attempt: 'a.1', entries: ['"ä begins"', '"grün"', '"later"'] }]);
    expect(said).toEqual(['The journal cannot be written; it is tried again.', 'The journal can be written again.']);
  });

  it.each(['EIO', 'EBADF', 'ENOSPC'])(
    'LIF-2: a device that fails with %s is tried again, and commit never throws',
    async (code) => {
      const { journal, device, clock } = open();
      journal.add('a.1', '1');
      journal.commit();
      device.writeFails = code;
      for (let entry = 2; entry < 100; entry += 1) {
        journal.add('a.1', String(entry));
        journal.commit();
        if (entry % 10 === 0) clock.advance(50);
      }
      expect(journal.healthy).toBe(false);
      device.writeFails = null;
      clock.advance(200);
      expect(journal.healthy).toBe(true);
      expect((await recover())[0]?.entries).toEqual(Array.from({ length: 99 }, (_, index) => String(index + 1)));
    },
  );

  it.runIf(process.platform === 'linux')('LIF-2: a descriptor that is broken is replaced', async () => {
    const { journal, clock } = open();
    journal.add('a.1', '1');
    journal.commit();
    const target = fs.realpathSync(path());
    const fd = fs.readdirSync('/proc/self/fd').find((name) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${name}`) === target;
      } catch {
        return false;
      }
    });
    fs.closeSync(Number(fd));
    journal.add('a.1', '2');
    journal.commit();
    expect(journal.healthy).toBe(false);
    clock.advance(200);
    expect(journal.healthy).toBe(true);
    expect(await recover()).toEqual([{ attempt: 'a.1', entries: ['1', '2'] }]);
  });

  it('LIF-2: a full device is healthy again only when it has taken something, even when all is forgotten', async () => {
    const { journal, device, clock } = open();
    journal.add('a.1', entryOf(1_000));
    journal.commit();
    device.room = 10;
    journal.add('a.1', entryOf(1_000));
    journal.commit();
    journal.forget('a.1');
    clock.advance(200);
    expect(journal.healthy).toBe(false);
    expect(sizes()).toEqual([0]);
    device.room = Infinity;
    clock.advance(200);
    expect(journal.healthy).toBe(true);
    journal.add('b.1', '1');
    journal.commit();
    expect(await recover()).toEqual([{ attempt: 'b.1', entries: ['1'] }]);
  });

  it('LIF-2: a line begun on a device that can neither go on nor be emptied is ended before the next', async () => {
    const { journal, device, clock } = open();
    device.room = 10;
    device.truncateFails = 'EIO';
    journal.add('a.1', entryOf(1_000));
    journal.commit();
    journal.forget('a.1');
    clock.advance(200);
    device.room = Infinity;
    clock.advance(200);
    expect(journal.healthy).toBe(true);
    journal.add('b.1', '1');
    journal.commit();
    expect(await recover()).toEqual([{ attempt: 'b.1', entries: ['1'] }]);
    expect(said).not.toContain('A torn entry at the end of the journal is left out.');
  });

  it('LIF-2: what was committed is synced within fsyncMs, once for all of it, and not at all when idle', () => {
    const { journal, device, clock } = open({ fsyncMs: 100 });
    for (let entry = 0; entry < 10; entry += 1) {
      journal.add('a.1', '1');
      journal.commit();
    }
    expect(device.syncs).toBe(0);
    clock.advance(100);
    expect(device.syncs).toBe(1);
    clock.advance(10_000);
    expect(device.syncs).toBe(1);
    expect(clock.waiting).toBe(0);
  });

  it('LIF-2: while fsync fails the journal is not healthy', () => {
    const { journal, device, clock } = open();
    device.syncFails = 'EIO';
    journal.add('a.1', '1');
    journal.commit();
    clock.advance(100);
    expect(journal.healthy).toBe(false);
    device.syncFails = null;
    clock.advance(200);
    expect(journal.healthy).toBe(true);
  });

  it('LIF-2: closing writes and syncs what is live, and leaves nothing of what is not', async () => {
    const { journal } = open();
    journal.add('a.1', '1');
    journal.add('b.1', '1');
    await journal.close();
    expect(await recover()).toHaveLength(2);
    const later = open();
    for (const { attempt } of await later.journal.recover()) later.journal.forget(attempt);
    await later.journal.close();
    expect(segments().filter((name) => fs.statSync(path(name)).size > 0)).toEqual([]);
  });

  it('a forgotten attempt is written as such without a commit of its own', async () => {
    const { journal, clock } = open();
    journal.add('a.1', '1');
    journal.add('b.1', '1');
    journal.commit();
    clock.advance(100);
    journal.forget('a.1');
    clock.advance(100);
    expect(await recover()).toEqual([{ attempt: 'b.1', entries: ['1'] }]);
  });
});
