import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../server/clock.js';
import { Deferred } from '../../../server/session/deferred.js';
import { Pump, type Safekeeping } from '../../../server/session/pump.js';

/** A pump, what it did in order, and a source of numbered events. */
function scene(safekeeping: Safekeeping | null = null) {
  const done: string[] = [];
  const pump = new Pump(systemClock, { commit: () => void done.push('journal') }, safekeeping);
  const source = (name: string) => ({ take: () => (done.push(`take ${name}`), () => void done.push(name)) });
  return { done, pump, source };
}

/** Safekeeping that is done when the test says so. */
function byHand() {
  const kept: Deferred<void>[] = [];
  const safekeeping = (): Promise<void> => {
    const deferred = new Deferred<void>();
    kept.push(deferred);
    return deferred.promise;
  };
  return { kept, safekeeping };
}

describe('the way out', () => {
  test('on a node of its own everything is journaled, then handed out, before flush returns', () => {
    const { done, pump, source } = scene();
    pump.add(source('a'));
    pump.add(source('b'));
    pump.flush();
    pump.inOrder(() => void done.push('behind'));
    expect(done).toEqual(['journal', 'take a', 'take b', 'a', 'b', 'behind']);
    expect(pump.waiting).toBeNull();
  });

  test('LIF-4: among several nodes nothing is handed out before it is safe, and all in the order in which it was taken', async () => {
    const { kept, safekeeping } = byHand();
    const { done, pump, source } = scene(safekeeping);
    pump.add(source('a'));
    pump.flush();
    pump.add(source('b'));
    pump.flush();
    pump.inOrder(() => void done.push('behind'));
    kept[1]?.resolve();
    await Promise.resolve();
    expect(done).toEqual(['journal', 'take a', 'journal', 'take b']);
    kept[0]?.resolve();
    await pump.waiting;
    expect(done.slice(4)).toEqual(['a', 'b', 'behind']);
    expect(pump.waiting).toBeNull();
  });

  test('what is published while others wait is taken with the next flush, not with theirs', async () => {
    const { kept, safekeeping } = byHand();
    const { done, pump } = scene(safekeeping);
    let events = ['1'];
    const source = {
      take: () => {
        const taken = events;
        events = [];
        return () => void done.push(...taken);
      },
    };
    pump.add(source);
    pump.flush();
    events.push('2');
    kept[0]?.resolve();
    await pump.waiting;
    expect(done).toEqual(['journal', '1']);
  });
});
