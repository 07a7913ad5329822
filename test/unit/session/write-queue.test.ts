import { describe, expect, it } from 'vitest';
import { ChatError } from '../../../protocol/index.js';
import { systemIds } from '../../../server/id-source.js';
import { createLog } from '../../../server/log.js';
import type { TurnWrite } from '../../../server/ports/store.js';
import { WriteQueue } from '../../../server/session/write-queue.js';
import { manualClock } from '../../contract/manual-clock.js';

/** A store that says what it was asked, and fails for writes of the names in `bad`. */
function scene() {
  const clock = manualClock();
  const groups: string[][] = [];
  const bad = new Set<string>();
  let fault = new ChatError('storage_unavailable');
  const write = async (batch: readonly TurnWrite[]): Promise<void> => {
    const names = batch.map(({ at }) => at);
    groups.push(names);
    if (names.some((name) => bad.has(name))) throw fault;
  };
  const queue = new WriteQueue({ store: { write }, clock, ids: systemIds, log: createLog('silent') });
  const submit = (name: string, patienceMs = Infinity) => queue.submit(() => ({ at: name }) as TurnWrite, patienceMs);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, queue, submit, groups, bad, settle, failWith: (error: ChatError) => (fault = error) };
}

describe('TRN-8: writes of turns', () => {
  it('that come in the same moment are one transaction, of at most 16', async () => {
    const { submit, groups } = scene();
    await Promise.all(Array.from({ length: 20 }, (_, i) => submit(`w${i}`)));
    expect(groups.map((group) => group.length)).toEqual([16, 4]);
  });

  it('a failed group is retried turn by turn: one bad write costs only itself', async () => {
    const { clock, submit, groups, bad, settle } = scene();
    bad.add('b');
    const [a, b, c] = ['a', 'b', 'c'].map((name) => submit(name));
    await Promise.all([a, c]);
    expect(groups).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
    bad.clear();
    clock.advance(1000);
    await settle();
    await b;
  });

  it('TRN-7: the end of a turn is tried until it is stored, whatever the store says', async () => {
    const { clock, submit, groups, bad, settle, failWith } = scene();
    failWith(new ChatError('not_found'));
    bad.add('end');
    const stored = submit('end');
    for (let i = 0; i < 10; i++) {
      await settle();
      clock.advance(1000);
    }
    expect(groups.length).toBeGreaterThan(5);
    bad.clear();
    await settle();
    clock.advance(1000);
    await stored;
  });

  it('a beginning is refused at once for good reasons, and after its patience for others', async () => {
    const { clock, submit, bad, settle, failWith } = scene();
    bad.add('begin');
    failWith(new ChatError('conflict'));
    await expect(submit('begin', 1000)).rejects.toMatchObject({ code: 'conflict' });
    failWith(new ChatError('storage_unavailable'));
    const refused = expect(submit('begin', 1000)).rejects.toMatchObject({ code: 'storage_unavailable' });
    for (let i = 0; i < 20; i++) {
      await settle();
      clock.advance(200);
    }
    await refused;
  });
});
