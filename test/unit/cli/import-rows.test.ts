import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commands } from '../../../protocol/index.js';
import { chatOf } from '../../../server/cli/import/chat-row.js';
import { messagesOf } from '../../../server/cli/import/message-row.js';
import { momentOf } from '../../../server/cli/import/moment.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const row = { id: '7', sid: 'u1', cid: 'c1', role: 'user', content: 'hi', created_at: '2025-11-02 10:00:00' };

describe('times', () => {
  test.each([
    ['2025-11-02 10:00:00', '2025-11-02T10:00:00.000Z'],
    ['2025-11-02 10:00:00.123456+00', '2025-11-02T10:00:00.123Z'],
    ['2025-11-02 10:00:00.1+08:00', '2025-11-02T02:00:00.100Z'],
    ['2025-11-02T10:00:00-0330', '2025-11-02T13:30:00.000Z'],
    ['2025-11-02T10:00:00Z', '2025-11-02T10:00:00.000Z'],
    ['2025-11-02 10:00:00.123456789 +0800 CST m=+0.1', '2025-11-02T02:00:00.123Z'],
    ['1762077600', '2025-11-02T10:00:00.000Z'],
    ['1762077600123', '2025-11-02T10:00:00.123Z'],
    ['1762077600.5', '2025-11-02T10:00:00.500Z'],
    ['', null],
    ['infinity', null],
    ['0000-00-00 00:00:00', null],
    ['yesterday', null],
  ])('%j is %j', (written, moment) => expect(momentOf(written)).toBe(moment));
});

describe('rows', () => {
  test('roles, assistants and times; every other column in metadata', async () => {
    const given = {
      ...row,
      role: 'system',
      uid: 'u1',
      name: '',
      context: '{"a":1}',
      mentions: '{"big":12345678901234567890}',
      assistant_id: 'neo',
      silent: '0',
      updated_at: null,
      team: 'blue',
    };
    const { messages, changes } = await messagesOf('c1', given, NOW);
    expect(changes).toEqual([]);
    expect(messages).toMatchObject([
      {
        role: 'assistant',
        assistantId: 'neo',
        createdAt: '2025-11-02T10:00:00.000Z',
        props: { content: 'hi' },
        metadata: {
          role: 'system',
          yao: { row: { id: '7', sid: 'u1', uid: 'u1', context: { a: 1 }, mentions: given.mentions, team: 'blue' } },
        },
      },
    ]);
  });

  test.each([
    [{ role: null }, /no role/],
    [{ silent: '1' }, /silent/],
    [{ silent: 't' }, /silent/],
    [{ expired_at: '2025-12-01 00:00:00' }, /expired/],
    [{ created_at: 'x' }, /no time/],
    [{ assistant_id: 'n e o' }, /assistant_id/],
    [{ name: 'a\0' }, /name/],
    [{ content: '[{"type":"event","props":{}}]' }, /unknown/],
    [{ content: `[{"type":"${'x'.repeat(60)}","props":{}}]` }, /unknown/],
  ])('%j is told', async (more, reason) => {
    const { changes, messages } = await messagesOf('c1', { ...row, ...more }, NOW);
    expect(changes).toEqual([expect.stringMatching(reason)]);
    expect(messages).toHaveLength(1);
  });

  test('whatever a row holds, it becomes messages that the server takes', async () => {
    const anything = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constantFrom('[', '{"', '[]')));
    const known = fc.constantFrom('text', 'tool', 'think', 'function', 'file', 'image', 'event', 'tool_result', 'x');
    const part = fc.record(
      { type: known, text: fc.jsonValue(), props: fc.jsonValue(), id: fc.jsonValue(), content: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const content = fc.oneof(
      anything,
      fc.array(part).map((list) => JSON.stringify(list)),
      part.map((one) => JSON.stringify(one)),
    );
    await fc.assert(
      fc.asyncProperty(content, anything, anything, anything, async (raw, role, name, time) => {
        const given = { id: '1', cid: 'c1', sid: name, content: raw, role, name, context: raw, created_at: time };
        const { messages } = await messagesOf('c1', given, NOW);
        expect(messages.length).toBeGreaterThan(0);
        expect(commands['message:save'].args.safeParse({ chatId: 'c1', messages }).error).toBeUndefined();
        expect((await messagesOf('c1', given, NOW)).messages).toEqual(messages);
      }),
      { numRuns: 500 },
    );
  });

  test('whatever a conversation is called, it becomes a chat that the server takes', async () => {
    const anything = fc.option(fc.string({ unit: 'binary', maxLength: 700 }));
    await fc.assert(
      fc.asyncProperty(anything, anything, anything, fc.boolean(), async (cid, title, assistant, isFirst) => {
        const legacy = { row: { id: '1', chat_id: cid, title, assistant_id: assistant }, cid, sid: title, isFirst };
        const { draft } = await chatOf(legacy, [{ assistant_id: assistant }], 'echo');
        expect(commands['chat:create'].args.safeParse(draft).error).toBeUndefined();
      }),
    );
  });
});

describe('chats', () => {
  const legacy = { row: { id: '1', chat_id: 'c1', sid: 'u1' }, cid: 'c1', sid: 'u1', isFirst: true };

  test('an assistant of its own, of its first rows, or of those that have none', async () => {
    const assistant = async (own: string | null, first: string | null) =>
      (await chatOf({ ...legacy, row: { ...legacy.row, assistant_id: own } }, [{ assistant_id: first }], 'echo')).draft
        .assistantId;
    expect(await assistant('neo', 'x')).toBe('neo');
    expect(await assistant(null, 'trinity')).toBe('trinity');
    expect(await assistant('n e', null)).toBe('echo');
  });

  test('a title too long is cut between characters, and whole in metadata', async () => {
    const title = '🙂'.repeat(251) + '.';
    const odd = `x${title}`;
    const { draft, changes } = await chatOf(
      { ...legacy, row: { ...legacy.row, title: odd, assistant_id: 'a' } },
      [row],
      'echo',
    );
    expect(draft.title).toBe(`x${'🙂'.repeat(249)}`);
    expect(draft.metadata).toMatchObject({ yao: { row: { title: odd } } });
    expect(changes).toEqual([expect.stringMatching(/title/)]);
  });

  test('an old id that can be none, or that another conversation had first, gives one made from it', async () => {
    const idOf = async (more: object) => (await chatOf({ ...legacy, ...more }, [], 'echo')).draft.chatId;
    expect(await idOf({})).toBe('c1');
    const others = [{ cid: 'a b' }, { cid: 'a  b' }, { isFirst: false }, { isFirst: false, sid: 'u2' }, { cid: null }];
    const ids = await Promise.all(others.map(idOf));
    expect(new Set([...ids, 'c1']).size).toBe(6);
  });
});
