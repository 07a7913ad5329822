import { describe, expect, test } from 'vitest';
import { cleanJson, type Json } from '../../../protocol/index.js';
import { storedOf, valueFrom } from '../../../stores/bee/stored-value.js';

const round = (value: unknown): unknown => valueFrom(JSON.parse(JSON.stringify(cleanJson(storedOf(value)))) as Json);

describe('what a message holds beside its text', () => {
  test('comes back as it was', () => {
    const value = {
      at: new Date(0),
      never: new Date(NaN),
      url: new URL('https://example.org/a?b#c'),
      bytes: new Uint8Array([0, 127, 255]),
      big: 12345678901234567890n,
      numbers: [1.5, NaN, -Infinity, -0],
      $bee: 'date',
      list: [null, true, 'text', { nested: [] }],
    };
    expect(round(value)).toEqual(value);
    const keyed = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as object;
    const back = round(keyed) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(JSON.stringify(back)).toBe(JSON.stringify(keyed));
  });

  test('is as deep as it was, beyond what the protocol carries', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 200; level++) deep = { deep };
    expect(round(deep)).toEqual(deep);
  });

  test('functions and symbols are left out, and no text becomes one', () => {
    expect(round({ run: () => 1, symbol: Symbol('s'), kept: 1 })).toEqual({ kept: 1 });
    expect(round({ __serializer: true, __class: 'Function', __value: { fn: '()=>1' } })).toEqual({
      __serializer: true,
      __class: 'Function',
      __value: { fn: '()=>1' },
    });
    for (const stored of [
      { $bee: 'function', value: '() => 1' },
      { $bee: 7 },
      { $bee: 'url', value: 'no url' },
      { $bee: 'date' },
    ])
      expect(() => valueFrom(stored as Json)).toThrow();
  });

  test('what contains itself is refused', () => {
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    expect(() => storedOf(loop)).toThrow(TypeError);
  });
});
