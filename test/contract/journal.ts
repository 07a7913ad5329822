import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attemptKey, type Journal } from '../../server/ports/journal.js';

/** The lives of one journal: each `next` opens it as a new process would after the former died without a word. */
export interface JournalLives {
  next(): Promise<Journal>;
  dispose(): Promise<void>;
}

const first = attemptKey('request-a', 1);
const second = attemptKey('request-b', 1);

/** The promises of `server/ports/journal.ts`, for every implementation. */
export function journalContract(name: string, begin: () => Promise<JournalLives>): void {
  describe(name, () => {
    let lives: JournalLives;
    beforeEach(async () => {
      lives = await begin();
    });
    afterEach(() => lives.dispose());

    const open = async () => {
      const journal = await lives.next();
      return { journal, found: await journal.recover() };
    };

    it('begins empty and healthy', async () => {
      const { journal, found } = await open();
      expect(found).toEqual([]);
      expect(journal.healthy).toBe(true);
      await journal.writable();
    });

    it('LIF-2: what was committed is found after a crash, attempts by their beginning, entries in order', async () => {
      const { journal } = await open();
      journal.add(second, '{"begin":"b"}');
      journal.add(first, '{"begin":"a"}');
      journal.commit();
      for (let op = 1; op <= 20; op += 1) {
        journal.add(first, `{"a":${op}}`);
        journal.add(second, `{"b":${op}}`);
        if (op % 3 === 0) journal.commit();
      }
      journal.commit();
      const { found } = await open();
      const ops = Array.from({ length: 20 }, (_, index) => index + 1);
      expect(found).toEqual([
        { attempt: second, entries: ['{"begin":"b"}', ...ops.map((op) => `{"b":${op}}`)] },
        { attempt: first, entries: ['{"begin":"a"}', ...ops.map((op) => `{"a":${op}}`)] },
      ]);
    });

    it('LIF-2: what was added and not committed is not written', async () => {
      const { journal } = await open();
      journal.add(first, '1');
      journal.commit();
      journal.add(first, '2');
      expect((await open()).found).toEqual([{ attempt: first, entries: ['1'] }]);
    });

    it('DAT-1: text of every script comes back as it was', async () => {
      const entry = JSON.stringify({ text: 'Grüße, 你好, 👩‍👩‍👧, \u2028 \t "quoted" \n', key: '\\' });
      const { journal } = await open();
      journal.add(first, entry);
      journal.commit();
      expect((await open()).found).toEqual([{ attempt: first, entries: [entry] }]);
    });

    it('LIF-2: a forgotten attempt does not come back, its neighbours do', async () => {
      const { journal } = await open();
      journal.add(first, '1');
      journal.add(second, '1');
      journal.commit();
      journal.forget(first);
      journal.commit();
      expect((await open()).found).toEqual([{ attempt: second, entries: ['1'] }]);
    });

    it('LIF-2: a recovered attempt is kept until it is forgotten, over any number of crashes', async () => {
      const begun = await open();
      begun.journal.add(first, '1');
      begun.journal.add(second, '1');
      begun.journal.commit();
      await open();
      const later = await open();
      expect(later.found).toHaveLength(2);
      later.journal.add(first, '2');
      later.journal.forget(second);
      later.journal.commit();
      const last = await open();
      expect(last.found).toEqual([{ attempt: first, entries: ['1', '2'] }]);
      last.journal.forget(first);
      last.journal.commit();
      expect((await open()).found).toEqual([]);
    });

    it('forgets what it never knew without a word', async () => {
      const { journal } = await open();
      journal.forget(first);
      journal.commit();
      expect((await open()).found).toEqual([]);
    });

    it('LIF-2: what was committed is found after a clean end, too', async () => {
      const { journal } = await open();
      journal.add(first, '1');
      journal.commit();
      await journal.close();
      await journal.close();
      expect((await open()).found).toEqual([{ attempt: first, entries: ['1'] }]);
    });
  });
}
