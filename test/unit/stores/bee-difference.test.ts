import { expect, test } from 'vitest';
import { differenceOf } from '../../../stores/bee/difference.js';

const thing = (name: string) => ({ name });
const [a, b, c, d, x, y, z] = ['a', 'b', 'c', 'd', 'x', 'y', 'z'].map(thing) as [
  Thing,
  Thing,
  Thing,
  Thing,
  Thing,
  Thing,
  Thing,
];
type Thing = ReturnType<typeof thing>;

/** `before added after`, and what is gone. */
const said = (from: Thing[], to: Thing[]) => {
  const { gone, places } = differenceOf(from, to);
  const name = (one: Thing | null) => one?.name ?? '-';
  return [places.map(({ before, added, after }) => `${name(before)}${added.name}${name(after)}`), gone.map(name)];
};

test.each([
  ['nothing', [a, b], [a, b], [], []],
  ['the end', [a, b], [a, b, x, y], ['bx-', 'xy-'], []],
  ['the front', [a, b], [x, y, a, b], ['-xa', 'xya'], []],
  ['between, in place of two', [a, b, c, d], [a, x, d], ['axd'], ['b', 'c']],
  ['here and there', [a, b, c, d], [x, a, y, c, z], ['-xa', 'ayc', 'cz-'], ['b', 'd']],
  ['everything gone', [a, b], [], [], ['a', 'b']],
  ['everything anew', [a], [x], ['-x-'], ['a']],
  ['the window moves', [a, b, c], [b, c, x], ['cx-'], ['a']],
])('%s', (_what, from, to, places, gone) => {
  expect(said(from, to)).toEqual([places, gone]);
});
