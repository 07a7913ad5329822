import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitHalf, utf8Bytes, wellFormed } from '../../../protocol/index.js';

/** Any text, ill-formed ones often. */
const anyText = fc
  .array(fc.oneof(fc.constantFrom('\ud83d', '\ude00', '\0', 'a', 'é', '日', '😀'), fc.string({ maxLength: 3 })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

describe('DAT-1: well-formed text', () => {
  it.each([
    ['a\ud83d', 'a\ufffd'],
    ['\ude00b', '\ufffdb'],
    ['\ud83d\ude00', '😀'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['a\0b', 'a\ufffdb'],
    ['', ''],
  ])('%j becomes %j', (text, expected) => expect(wellFormed(text)).toBe(expected));

  it('of any text is the same length, stays as it is, and survives UTF-8', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = wellFormed(text);
        expect(clean.length).toBe(text.length);
        expect(wellFormed(clean)).toBe(clean);
        expect(Buffer.from(clean, 'utf8').toString('utf8')).toBe(clean);
      }),
    );
  });

  it('splits off nothing but a trailing high surrogate', () => {
    expect(splitHalf('ab\ud83d')).toEqual({ head: 'ab', half: '\ud83d' });
    expect(splitHalf('ab\ude00')).toEqual({ head: 'ab\ude00', half: '' });
    expect(splitHalf('')).toEqual({ head: '', half: '' });
  });

  it('is measured in the bytes that UTF-8 takes', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Bytes(wellFormed(text))).toBe(Buffer.byteLength(wellFormed(text)));
      }),
    );
  });
});
