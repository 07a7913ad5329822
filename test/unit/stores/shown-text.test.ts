import { expect, test } from 'vitest';
import { isSaid, withOneText, wordsOf } from '../../../stores/shown-text.js';

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

test.each([
  ['text', 'hi', 'hi'],
  ['user_input', 'hi', 'hi'],
  ['user_input', [{ type: 'text', text: 'look' }, { type: 'image_url' }, { type: 'text', text: 'here' }], 'look\nhere'],
  ['user_input', [{ type: 'image_url' }], '{"type":"user_input","props":{"content":[{"type":"image_url"}]}}'],
  ['image', 'x', '{"type":"image","props":{"content":"x"}}'],
  ['my own type', 'x', '{"type":"my own type","props":{"content":"x"}}'],
])('a %s of others with the content %j is part of the conversation, as %s', (type, content, words) => {
  const message = { type, props: { content } };
  expect([isSaid(message), wordsOf(message)]).toEqual([true, words]);
});

test.each(['thinking', 'loading', 'tool_call'])('a %s of others was said to nobody', (type) => {
  expect(isSaid({ type, props: { content: 'x' } })).toBe(false);
});
