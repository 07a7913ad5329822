import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, cleanJson, jsonDepth, JsonFault, MAX_JSON_DEPTH, type Json } from '../../../protocol/index.js';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { k: value };
  return value;
}

/** Any JSON without the keys that are refused. */
const anyJson = fc.jsonValue().filter((value) => !/"(__proto__|prototype|constructor)":/.test(JSON.stringify(value)));

describe('DAT-2: JSON that we carry', () => {
  it('is copied, equal and apart', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const copy = cleanJson(JSON.parse(JSON.stringify(value)));
        expect(JSON.stringify(copy)).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))));
      }),
    );
    const source = { a: [1, { b: 2 }] };
    const copy = cleanJson(source) as { a: [number, { b: number }] };
    source.a[1] = { b: 3 };
    expect(copy.a[1].b).toBe(2);
  });

  it(`may be ${MAX_JSON_DEPTH} levels deep and no more, whatever the stack could bear`, () => {
    expect(jsonDepth(cleanJson(nested(MAX_JSON_DEPTH)))).toBe(MAX_JSON_DEPTH);
    expect(() => cleanJson(nested(MAX_JSON_DEPTH + 1))).toThrow(JsonFault);
    expect(() => cleanJson(nested(200_000))).toThrow('nested deeper');
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => cleanJson(cycle)).toThrow('nested deeper');
  });

  it.each(['__proto__', 'prototype', 'constructor'])('refuses the key %s', (key) => {
    expect(() => cleanJson(JSON.parse(`{"a":{"${key}":1}}`))).toThrow('not allowed');
  });

  it.each([
    [NaN],
    [Infinity],
    [1n],
    [new Date()],
    [new Map()],
    [() => 1],
    [undefined],
    [Symbol('s')],
    [Buffer.from('x')],
  ])('refuses %s', (value) => {
    expect(() => cleanJson([value])).toThrow(JsonFault);
  });

  it('leaves undefined properties out, and cleans keys as well as values (DAT-1)', () => {
    expect(cleanJson({ a: undefined, ['k\ud83d']: 'v\0' })).toEqual({ 'k\ufffd': 'v\ufffd' });
    expect(Object.is(cleanJson(-0), 0)).toBe(true);
  });

  it('TRN-1: canonical text is the same whatever the order of keys', () => {
    const shuffled = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(shuffled)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, inner]) => [key, shuffled(inner)]),
            )
          : value;
    fc.assert(
      fc.property(anyJson, (raw) => {
        const value = cleanJson(JSON.parse(JSON.stringify(raw)));
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });
});
