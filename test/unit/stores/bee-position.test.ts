import { describe, expect, test } from 'vitest';
import { isPosition, positionBetween, positionOf } from '../../../stores/bee/position.js';

/** A generator of small numbers that is the same in every run (Park and Miller). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
let names = 0;
const name = () => `m-${(names++).toString(36)}`;

describe('positions of a memory', () => {
  test('those of sequences sort as the sequences do, and stay short', () => {
    const sequences = [1, 2, 61, 62, 63, 3843, 3844, 238327, 238328, 10 ** 9, Number.MAX_SAFE_INTEGER];
    const positions = sequences.map(positionOf);
    expect([...positions].sort(byCodeUnit)).toEqual(positions);
    expect(new Set(positions).size).toBe(sequences.length);
    expect(positions.every(isPosition)).toBe(true);
    expect(positionOf(Number.MAX_SAFE_INTEGER).length).toBeLessThan(12);
  });

  test('20,000 inserts at random places keep their order', () => {
    const next = numbers(7);
    const list = [positionOf(1), positionOf(62)];
    for (let count = 0; count < 20_000; count++) {
      const index = next(list.length);
      const position = positionBetween(list[index - 1] ?? '', list[index]!, name());
      list.splice(index, 0, position);
    }
    expect(list.every(isPosition)).toBe(true);
    expect([...list].sort(byCodeUnit)).toEqual(list);
    expect(new Set(list).size).toBe(list.length);
    expect(Math.max(...list.map(({ length }) => length))).toBeLessThan(100);
  });

  test.each([
    ['the front', (list: string[]) => 0 * list.length],
    ['index 1, behind a system message', () => 1],
    ['the place before the last', (list: string[]) => list.length - 1],
  ])('10,000 inserts at %s need no rebalancing: positions stay below 3 KB', (_where, indexOf) => {
    const list = [positionOf(1), positionOf(2)];
    let longest = 0;
    for (let count = 0; count < 10_000; count++) {
      const index = indexOf(list);
      const [before, after] = [list[index - 1] ?? '', list[index]!];
      const position = positionBetween(before, after, name());
      if (!(before < position && position < after)) throw new Error(`${before} < ${position} < ${after}`);
      longest = Math.max(longest, position.length);
      list.splice(index, 0, position);
    }
    expect(longest).toBeLessThan(3072);
  });

  test('two programs that insert at the same place have two positions, and there is room between them', () => {
    const pair = [
      positionBetween(positionOf(1), positionOf(2), 'one'),
      positionBetween(positionOf(1), positionOf(2), 'two'),
    ];
    const [low, high] = pair.sort(byCodeUnit) as [string, string];
    const between = positionBetween(low, high, 'three');
    expect(low < between && between < high).toBe(true);
  });

  test('what somebody else wrote is no position', () => {
    for (const text of ['', '0', 'a0', 'ä', 'a b', 7, null, undefined]) expect(isPosition(text)).toBe(false);
  });
});
