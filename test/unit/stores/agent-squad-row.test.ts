import { describe, expect, test } from 'vitest';
import type { Message } from '../../../protocol/index.js';
import { assistantOf, readName, writtenName } from '../../../stores/agent-squad/agent-name.js';
import { draftOf, rowOf } from '../../../stores/agent-squad/row.js';

const saving = { agentId: 'agent', lane: 'x', isParallel: false, isBatched: false };
/** The draft as the chat would give it back. */
const stored = (draft: ReturnType<typeof draftOf>): Message =>
  JSON.parse(JSON.stringify({ sequence: 1, assistantId: null, requestId: null, ...draft })) as Message;
const given = (message: object) => rowOf(stored(draftOf(message as never, saving)))?.message;

describe('a message as the chat keeps it', () => {
  test('a plain text stands once', () => {
    const draft = draftOf({ role: 'user', content: [{ text: 'hi' }] }, saving);
    expect(draft).toEqual({
      role: 'user',
      type: 'text',
      props: { content: 'hi' },
      metadata: { stores: { squad: { agentId: 'agent', lane: 'x' } } },
    });
  });

  test('other roles than the two are an answer to people, and themselves to the framework', () => {
    const message = { role: 'system', content: [{ text: 'be brief' }] };
    expect(draftOf(message, saving)).toMatchObject({ role: 'assistant', metadata: { role: 'system' } });
    expect(given(message)).toEqual(message);
  });

  test('an instance, the time it brings, and a time that no row can show', () => {
    class Said {
      role = 'user';
      content = [{ text: 'x' }];
      timestamp = 0;
    }
    expect(draftOf(new Said(), saving)).toMatchObject({ createdAt: '1970-01-01T00:00:00.000Z' });
    expect(given(new Said())).toEqual({ role: 'user', content: [{ text: 'x' }] });
    for (const timestamp of [1e300, 1e15, -1e14, 'yesterday'])
      expect(draftOf({ role: 'user', content: [], ...{ timestamp } }, saving)).not.toHaveProperty('createdAt');
  });

  test('DAT-1: text that no database holds is replaced', () => {
    expect(given({ role: 'user', content: [{ text: 'a\ud800\0' }] })).toEqual({
      role: 'user',
      content: [{ text: 'a\ufffd\ufffd' }],
    });
    expect(given({ role: 'user', content: [{ text: 'a\ud800' }, { text: '\udc00b' }] })).toEqual({
      role: 'user',
      content: [{ text: 'a\ufffd' }, { text: '\ufffdb' }],
    });
  });

  test('metadata that this room never wrote makes no row of it', () => {
    const message = stored(draftOf({ role: 'user', content: [] }, saving));
    for (const squad of [undefined, null, 7, [], {}, { agentId: 7, lane: 'x' }, { agentId: 'a' }])
      expect(rowOf({ ...message, metadata: squad === undefined ? null : { stores: { squad } } })).toBeNull();
  });
});

describe('an agent’s name', () => {
  test.each(['agent', '', 'a\ud800', 'a\0b', '{"escaped":"x"}', 'é', '[x] '])('%j is kept exactly', (name) => {
    expect(readName(JSON.parse(JSON.stringify(writtenName(name))))).toBe(name);
  });

  test('its assistant is itself where that is an id, else a hash', async () => {
    expect(await assistantOf('Tech_1.a:b')).toBe('Tech_1.a:b');
    expect(await assistantOf('tech desk')).toMatch(/^agent-[\w-]{43}$/);
    expect(await assistantOf('tech desk')).not.toBe(await assistantOf('tech  desk'));
    expect(await assistantOf('x'.repeat(201))).toMatch(/^agent-/);
  });

  test.each([null, 7, {}, { escaped: 7 }, { escaped: '{' }, { escaped: '7' }])('%j is none', (written) => {
    expect(readName(written)).toBeNull();
  });
});
