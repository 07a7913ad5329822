import { describe, expect, test } from 'vitest';
import { NewestCopy } from '../../server/wire/newest-copy.js';

describe('TRN-2: a start that was sent again on the next connection', () => {
  test('is the newest copy’s alone, whichever of them has its time first', () => {
    const copies = new NewestCopy();
    const [older, newer] = [copies.add('a'), copies.add('a')];
    expect([newer(), older()]).toEqual([true, false]);
    const [first, second] = [copies.add('a'), copies.add('a')];
    expect([first(), second()]).toEqual([false, true]);
  });

  test('one that was served is forgotten: a later one of the same id is new, and ids do not meet', () => {
    const copies = new NewestCopy();
    expect([copies.add('a')(), copies.add('a')()]).toEqual([true, true]);
    const [a, b] = [copies.add('a'), copies.add('b')];
    expect([a(), b()]).toEqual([true, true]);
  });
});
