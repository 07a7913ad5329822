import { describe, expect, it } from 'vitest';
import type { Message } from '../../../client/index.js';
import { anchored } from '../../../client/web/chat/first-index.js';
import { rowsOf } from '../../../client/web/chat/rows.js';
import { titleFrom } from '../../../client/web/chats/title.js';
import { originsIn } from '../../../client/web/markdown/picture-origins.js';

const message = (messageId: string, role: Message['role'], requestId: string | null): Message => ({
  messageId,
  chatId: 'chat',
  requestId,
  role,
  type: 'text',
  props: {},
  blockId: null,
  threadId: null,
  stepId: null,
  assistantId: null,
  sequence: 1,
  state: 'closed',
  metadata: null,
  createdAt: '',
  updatedAt: '',
});
const rows = (...ids: readonly string[]) =>
  rowsOf(
    ids.map((id) => message(id, 'user', null)),
    [],
  );

describe('the rows of a chat', () => {
  it('say where another speaks, and where a turn ends; those of turns that wait are left out', () => {
    const messages = [
      message('a', 'user', 'first'),
      message('b', 'assistant', 'first'),
      message('c', 'user', 'second'),
      message('d', 'assistant', 'first'),
      message('e', 'assistant', null),
    ];
    const shown = rowsOf(messages, ['second']);
    expect(shown.map(({ messageId }) => messageId)).toEqual(['a', 'b', 'd', 'e']);
    expect(shown.map(({ isFirst }) => isFirst)).toEqual([true, true, false, true]);
    expect(shown.map(({ endsTurn }) => endsTurn)).toEqual([false, false, true, false]);
  });

  it('keep their index when others are laid before them, or the first ones are deleted', () => {
    const before = { rows: rows('c', 'd', 'e'), firstIndex: 100 };
    expect(anchored(before, rows('a', 'b', 'c', 'd', 'e', 'f')).firstIndex).toBe(98);
    expect(anchored(before, rows('d', 'e')).firstIndex, 'c is deleted, d has its index').toBe(101);
    expect(anchored(before, rows('b', 'd', 'e')).firstIndex, 'c is replaced').toBe(100);
  });
});

describe('the title of a chat', () => {
  it.each([
    ['Hello there', 'Hello there'],
    ['# A **bold** heading\n\nand more', 'A bold heading'],
    ['```\ncode\n```', 'code'],
    [`${'word '.repeat(30)}`, `${'word '.repeat(12).trim()}…`],
    ['x'.repeat(100), `${'x'.repeat(60)}…`],
    ['***', ''],
  ])('of %j is %j', (text, title) => {
    expect(titleFrom(text)).toBe(title);
  });
});

describe('the origins of pictures', () => {
  it('are those of the policy, without its keywords', () => {
    const policy = "default-src 'none';img-src 'self' https://a.example http://b.example:81;font-src https://c.example";
    expect(originsIn(policy)).toEqual(['https://a.example', 'http://b.example:81']);
    expect(originsIn('')).toEqual([]);
  });
});
