import * as fs from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalFiles } from '../../server/adapters/file-journal/journal-files.js';
import { entryOf, failingFiles, journalOnDisk } from './journal-on-disk.js';

describe('file journal segments', () => {
  const { open, recover, segments, sizes, clear } = journalOnDisk();
  const KB = 1024;
  /** Adds an entry of 1 KiB to each attempt and lets the fsync pass. */
  const write = ({ journal, clock }: ReturnType<typeof open>, ...attempts: string[]) => {
    for (const attempt of attempts) journal.add(attempt, entryOf(KB));
    journal.commit();
    clock.advance(100);
  };
  const forget = ({ journal, clock }: ReturnType<typeof open>, ...attempts: string[]) => {
    for (const attempt of attempts) journal.forget(attempt);
    clock.advance(100);
  };

  it('LIF-3: nothing live leaves nothing on the disk', () => {
    const lived = open();
    write(lived, 'a.1', 'b.1');
    expect(sizes()[0]).toBeGreaterThan(2 * KB);
    forget(lived, 'a.1');
    forget(lived, 'b.1');
    expect(sizes()).toEqual([0]);
    expect(lived.clock.waiting).toBe(0);
    expect(lived.journal.segments).toBe(0);
  });

  it('a full segment is followed by a new one', async () => {
    const lived = open({ segmentBytes: 2 * KB });
    for (let entry = 0; entry < 6; entry += 1) write(lived, 'a.1');
    expect(segments()).toHaveLength(4);
    expect((await recover())[0]?.entries).toHaveLength(6);
  });

  it('rotates between commits also while others have added and not committed', async () => {
    const { journal, clock } = open({ segmentBytes: 2 * KB });
    journal.add('a.1', entryOf(3 * KB));
    journal.commit();
    journal.add('b.1', '1');
    clock.advance(100);
    expect(segments()).toHaveLength(1);
    journal.commit();
    expect(segments()).toHaveLength(2);
    expect(await recover()).toHaveLength(2);
  });

  it('LIF-3: a segment goes when all in it are forgotten; a long turn keeps only those that hold it', () => {
    const lived = open({ segmentBytes: KB });
    write(lived, 'long.1', 'a.1');
    write(lived, 'b.1');
    write(lived, 'c.1');
    write(lived, 'long.1');
    const [first, , , fourth, current] = segments();
    forget(lived, 'a.1', 'b.1', 'c.1');
    expect(segments()).toEqual([first, fourth, current]);
    forget(lived, 'long.1');
    expect(segments()).toEqual([current]);
  });

  it('LIF-2: a forgotten attempt stays forgotten when the segment with its marker goes before that with its entries', async () => {
    const lived = open({ segmentBytes: KB });
    write(lived, 'long.1', 'a.1');
    lived.journal.forget('a.1');
    for (let turn = 1; turn <= 5; turn += 1) {
      write(lived, `t${turn}.1`);
      forget(lived, `t${turn}.1`);
    }
    expect(segments().length).toBeLessThanOrEqual(3);
    expect((await recover()).map(({ attempt }) => attempt)).toEqual(['long.1']);
    const next = open({ segmentBytes: KB });
    await next.journal.recover();
    for (let turn = 1; turn <= 5; turn += 1) {
      write(next, `u${turn}.1`);
      forget(next, `u${turn}.1`);
    }
    expect((await recover()).map(({ attempt }) => attempt)).toEqual(['long.1']);
  });

  it('LIF-2: a segment outlives its need until the markers that it held are written elsewhere', async () => {
    const lived = open({ segmentBytes: KB });
    write(lived, 'long.1', 'a.1');
    lived.journal.forget('a.1');
    write(lived, 't.1');
    const marked = segments()[1];
    lived.journal.add('long.1', '1');
    forget(lived, 't.1');
    expect(segments()).toContain(marked);
    lived.journal.commit();
    expect(segments()).not.toContain(marked);
    expect((await recover()).map(({ attempt }) => attempt)).toEqual(['long.1']);
  });

  it('LIF-2: recovered attempts pin their segments, and no others stay', async () => {
    const before = open({ segmentBytes: KB });
    write(before, 'a.1');
    write(before, 'b.1');
    const [first, second] = segments();
    before.journal.forget('a.1');
    before.clock.advance(100);
    const later = open();
    expect(await later.journal.recover()).toHaveLength(1);
    expect(segments()).not.toContain(first);
    expect(segments()).toContain(second);
    forget(later, 'b.1');
    expect(sizes()).toEqual([0]);
  });

  it('LIF-2: goes on in the full segment while no new one can be begun', async () => {
    const { files } = failingFiles();
    let refused = false;
    const openSync: JournalFiles['openSync'] = (path, flags) => {
      if (refused) throw new Error('EMFILE');
      return fs.openSync(path, flags);
    };
    const lived = open({ segmentBytes: KB, files: { ...files, openSync } });
    refused = true;
    write(lived, 'a.1');
    write(lived, 'a.1');
    expect(lived.journal.healthy).toBe(true);
    expect(segments()).toHaveLength(1);
    refused = false;
    write(lived, 'a.1');
    expect(segments()).toHaveLength(2);
    expect((await recover())[0]?.entries).toHaveLength(3);
  });

  it('LIF-2: over any lives, forgettings, rotations and refusals of the device, exactly what is live comes back', async () => {
    const attempt = fc.integer({ min: 0, max: 5 });
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ do: fc.constant('add' as const), attempt, bytes: fc.integer({ min: 2, max: 300 }) }),
      },
      { weight: 6, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('forget' as const), attempt }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 250 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('fill' as const), room: fc.integer({ min: 0, max: 400 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('heal' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200, size: 'max' }), async (steps) => {
        clear();
        let life = open({ segmentBytes: 500 });
        let begun = 0;
        const names = new Map<number, string>();
        const model = new Map<string, string[]>();
        const heal = () => {
          life.device.room = Infinity;
          life.clock.advance(200);
        };
        const crash = async () => {
          heal();
          life.journal.commit();
          expect(life.journal.healthy).toBe(true);
          life = open({ segmentBytes: 500 });
          const found = await life.journal.recover();
          expect(found).toEqual([...model].map(([attempt, entries]) => ({ attempt, entries })));
        };
        for (const taken of steps) {
          if (taken.do === 'add') {
            const name = names.get(taken.attempt) ?? `attempt-${(begun += 1)}.1`;
            const entry = entryOf(taken.bytes);
            names.set(taken.attempt, name);
            model.set(name, [...(model.get(name) ?? []), entry]);
            life.journal.add(name, entry);
          } else if (taken.do === 'commit') life.journal.commit();
          else if (taken.do === 'forget') {
            const name = names.get(taken.attempt) ?? 'unknown.1';
            life.journal.forget(name);
            names.delete(taken.attempt);
            model.delete(name);
          } else if (taken.do === 'wait') life.clock.advance(taken.ms);
          else if (taken.do === 'fill') life.device.room = taken.room;
          else if (taken.do === 'heal') heal();
          else await crash();
        }
        await crash();
        for (const name of model.keys()) life.journal.forget(name);
        life.clock.advance(200);
        expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(0);
        expect(segments()).toHaveLength(1);
      }),
    );
  });
});
