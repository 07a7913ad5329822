import { describe, expect, test } from 'vitest';
import { commands, parse } from '../../../protocol/index.js';
import { fingerprint } from '../../../server/session/fingerprint.js';

const nested = (levels: number): object =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as object;

describe('TRN-1: the fingerprint of a start', () => {
  test('is the same for equal bodies, whatever the order of keys, and another for other bodies', () => {
    const body = { chatId: 'c', input: 'x', metadata: { a: 1, b: [2] } };
    expect(fingerprint({ metadata: { b: [2], a: 1 }, input: 'x', chatId: 'c' })).toBe(fingerprint(body));
    for (const other of [
      { ...body, input: 'y' },
      { ...body, input: { type: 'text', props: { content: 'x' } } },
      { ...body, onBusy: 'enqueue' },
      { ...body, metadata: { a: 1, b: [3] } },
      { chatId: 'c', regenerate: 'x', metadata: body.metadata },
    ])
      expect(fingerprint(other)).not.toBe(fingerprint(body));
    expect(fingerprint({ ...body, requestId: 'r', createChat: true })).toBe(fingerprint(body));
  });

  test.each([
    { chatId: 'c', input: 'x', metadata: nested(64) },
    { chatId: 'c', input: { type: 't', props: nested(64) } },
    { chatId: 'c', input: [{ type: 't', props: {}, metadata: nested(64) }] },
    { chatId: 'c', input: { type: 't', props: {}, junk: nested(5_000) } },
    JSON.parse('{"chatId":"c","input":{"type":"t","props":{},"__proto__":1,"constructor":1,"junk":1e999}}') as object,
  ])('DAT-2: there is one for all that the schema lets through (%#)', (sent) => {
    parse(commands['turn:start'].args, sent);
    expect(fingerprint(sent)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('what the schema drops is no part of it', () => {
    const sent = { chatId: 'c', input: { type: 't', props: {} } };
    expect(fingerprint({ ...sent, input: { ...sent.input, junk: 1 } })).toBe(fingerprint(sent));
  });
});
