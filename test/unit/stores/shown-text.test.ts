import { expect, test } from 'vitest';
import { withOneText } from '../../../stores/shown-text.js';

const isText = (part: string): boolean => part.startsWith('t');

test.each([
  [['t1'], ['text']],
  [
    ['image', 't1', 'call', 't2'],
    ['image', 'text', 'call'],
  ],
  [['image'], ['text', 'image']],
  [[], ['text']],
])('of the parts %j one text is left, in its place: %j', (parts, expected) => {
  expect(withOneText(parts, isText, 'text')).toEqual(expected);
});
