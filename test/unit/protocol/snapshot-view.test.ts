import { expect, test } from 'vitest';
import { solidFrom, type Message } from '../../../protocol/index.js';

/** Messages of these sequences: the negative ones are open. */
const page = (...sequences: number[]): Message[] =>
  sequences.map((at) => ({ sequence: Math.abs(at), state: at < 0 ? 'open' : 'closed' }) as Message);

test.each<[string, number[], boolean, number]>([
  ['all of the chat', [3, 4], false, 0],
  ['a page of closed ones', [3, 5, 9], true, 3],
  ['a leading open one, and the next one behind it', [-3, 4], true, 3],
  ['a leading open one before a hole', [-3, 7, 8], true, 7],
  ['several, one of them before a hole', [-3, -4, -9, 10], true, 9],
  ['open ones alone', [-3, -4], true, 3],
  ['an open one behind a closed one', [3, -4, 9], true, 3],
  ['nothing, with more below', [], true, Infinity],
])('DAT-3: %s: from where on a page has every message', (_title, sequences, hasMore, expected) => {
  expect(solidFrom({ messages: page(...sequences), hasMore })).toBe(expected);
});
