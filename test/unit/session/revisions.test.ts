import { describe, expect, test } from 'vitest';
import { Revisions } from '../../../server/session/revisions.js';

describe('CMD-5: the revisions of a process', () => {
  test('a chat has one, another after each touch, and none that it had before', () => {
    const revisions = new Revisions('life');
    const seen = [revisions.of('a')];
    for (let touch = 0; touch < 3; touch++) {
      revisions.raise('b');
      expect(revisions.of('a')).toBe(seen.at(-1));
      revisions.raise('a');
      expect(revisions.of('a')).toBe(revisions.of('a'));
      seen.push(revisions.of('a'));
    }
    expect(new Set(seen).size).toBe(4);
    expect(new Revisions('another life').of('a')).not.toBe(new Revisions('life').of('a'));
  });

  test('beyond the bound chats are touched rather than taken for untouched', () => {
    const revisions = new Revisions('life', 2);
    const before = new Map<string, Set<string>>();
    const chats = ['a', 'b', 'c', 'd', 'never touched'];
    for (const chat of chats) before.set(chat, new Set([revisions.of(chat)]));
    for (const chat of ['a', 'b', 'c', 'a', 'd', 'b', 'b', 'c', 'd', 'a']) {
      revisions.raise(chat);
      expect(before.get(chat), `${chat} after its touch`).not.toContain(revisions.of(chat));
      for (const other of chats) before.get(other)?.add(revisions.of(other));
    }
    expect(revisions.of('never touched')).toBe(revisions.of('b'));
  });
});
