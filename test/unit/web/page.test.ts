import { describe, expect, it, vi } from 'vitest';
import type { Message } from '../../../client/index.js';
import { anchored } from '../../../client/web/chat/first-index.js';
import { rowsOf } from '../../../client/web/chat/rows.js';
import { titleFrom } from '../../../client/web/chats/title.js';
import { pictureAddress } from '../../../client/web/markdown/addresses.js';
import { isBearable } from '../../../client/web/markdown/bearable.js';
import { originsIn } from '../../../client/web/markdown/picture-origins.js';
import { MAX_BUTTONS, props as actionProps } from '../../../client/web/message/action.js';

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

describe('the choices that an assistant offers', () => {
  it('are as many as one can choose among, whatever it sends', () => {
    const { buttons } = actionProps.parse({ buttons: Array.from({ length: 100_000 }, (_, index) => `${index}`) });
    expect(buttons).toHaveLength(MAX_BUTTONS);
    expect(buttons[1]).toEqual({ label: '1', value: '1' });
  });
});

describe('a picture', () => {
  it('is loaded from this server, but from no address at which it answers without end', () => {
    vi.stubGlobal('location', { origin: 'https://chat.example' });
    for (const path of [
      '/v1/chats/a/events',
      '/v1/ai-sdk/chat/a/stream',
      '/socket.io/?EIO=4',
      '/%761/chats',
      '/a/../v1/x',
    ])
      expect(pictureAddress(path, []), path).toBeNull();
    for (const path of ['/uploads/a.png', '/v10/a.png', '/assets/v1/a.png'])
      expect(pictureAddress(path, []), path).toBe(`https://chat.example${path}`);
    expect(pictureAddress('https://img.example/v1/a.png', ['https://img.example'])).toBe(
      'https://img.example/v1/a.png',
    );
    expect(pictureAddress('https://elsewhere.example/a.png', [])).toBeNull();
    vi.unstubAllGlobals();
  });
});

describe('what a model wrote', () => {
  const bombs: Readonly<Record<string, string>> = {
    'quotes in quotes': '>'.repeat(100_000),
    'quotes in quotes, with spaces': `${'> '.repeat(1_000)}x`,
    'lists in lists': Array.from({ length: 400 }, (_, depth) => `${' '.repeat(2 * depth)}- x`).join('\n'),
    'lists in lists on a line': '1. '.repeat(50_000),
    'brackets that open': '['.repeat(100_000),
    'brackets that close': ']'.repeat(100_000),
    'words that are struck out without end': '~~a'.repeat(40_000),
    'links without end': '[a]('.repeat(40_000),
    'backticks of every length': Array.from({ length: 400 }, (_, length) => '`'.repeat(length)).join(' a '),
    'a very long text': 'word '.repeat(50_000),
  };
  it.each(Object.entries(bombs))('is shown as it stands where it would hold up the page: %s', (_, text) => {
    expect(isBearable(text)).toBe(false);
  });

  it('is laid out where it is anything that people read', () => {
    const list = Array.from({ length: 12 }, (_, depth) => `${'  '.repeat(depth)}- item ${depth}`).join('\n');
    const links = Array.from({ length: 500 }, (_, number) => `[note ${number}](https://example.org/${number})`).join(
      ' ',
    );
    const code = `\`\`\`ts\n${`${' '.repeat(60)}const list = [1, 2];\n`.repeat(500)}\`\`\``;
    for (const text of ['', '- - - - - - - -', `> ${list.replaceAll('\n', '\n> ')}`, links, code])
      expect(isBearable(text), text.slice(0, 40)).toBe(true);
  });
});
