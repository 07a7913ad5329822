import { describe, expect, it } from 'vitest';
import {
  changePath,
  deepMerge,
  normalPath,
  parsePath,
  PathFault,
  readPath,
  textAt,
  type JsonObject,
} from '../../../protocol/index.js';

const set = (props: JsonObject, path: string, value: unknown) => changePath(props, path, () => value as never);

describe('DAT-2: paths', () => {
  it('are dotted, with a leading props. dropped once, where they come in', () => {
    expect(parsePath('rows.0.text')).toEqual(['rows', '0', 'text']);
    expect(parsePath('props.rows.0')).toEqual(['props', 'rows', '0']);
    expect(normalPath('props.content')).toBe('content');
    expect(normalPath('props.props.content')).toBe('props.content');
    expect(parsePath('')).toEqual([]);
  });

  it.each(['__proto__.x', 'a.constructor', 'prototype', 'a..b', '.a', 'a.', Array(65).fill('a').join('.')])(
    '%s is refused',
    (path) => {
      expect(() => parsePath(path)).toThrow(PathFault);
    },
  );

  it('make missing parents: objects, or arrays before a number', () => {
    expect(set({}, 'a.b.c', 1)).toEqual({ a: { b: { c: 1 } } });
    expect(set({}, 'rows.0.text', 'x')).toEqual({ rows: [{ text: 'x' }] });
    expect(set({ a: null }, 'a.b', 1)).toEqual({ a: { b: 1 } });
  });

  it('reach one beyond the end of an array and no further', () => {
    expect(set({ rows: [1] }, 'rows.1', 2)).toEqual({ rows: [1, 2] });
    expect(() => set({ rows: [1] }, 'rows.2', 2)).toThrow('beyond');
    expect(() => set({}, 'rows.1', 2)).toThrow('beyond');
    expect(() => set({ rows: [1] }, 'rows.first', 2)).toThrow('no index');
  });

  it.each([[{ a: 'text' }], [{ a: 5 }], [{ a: true }]])('do not run through a scalar: %j', (props) => {
    expect(() => set(props, 'a.b', 1)).toThrow('runs through');
  });

  it('leave what was there before untouched', () => {
    const before = { a: { b: [1, 2] }, c: { d: 1 } };
    const after = set(before, 'a.b.0', 9);
    expect(before).toEqual({ a: { b: [1, 2] }, c: { d: 1 } });
    expect(after['c']).toBe(before.c);
  });

  it('read nothing from a prototype', () => {
    expect(readPath({}, 'toString')).toBeUndefined();
    expect(readPath({ a: [1] }, 'a.length')).toBeUndefined();
  });

  it('text is appended to text, or to nothing', () => {
    expect(textAt({}, 'content')).toBe('');
    expect(textAt({ content: 'x' }, 'content')).toBe('x');
    for (const held of [5, null, {}, [], true]) expect(() => textAt({ content: held }, 'content')).toThrow(PathFault);
  });

  it('objects merge, all else replaces, null too', () => {
    expect(deepMerge({ a: { x: 1, y: [1, 2] }, b: 1 }, { a: { y: [3], z: null }, c: 'n' })).toEqual({
      a: { x: 1, y: [3], z: null },
      b: 1,
      c: 'n',
    });
    expect(deepMerge('text', { a: 1 })).toEqual({ a: 1 });
    expect(deepMerge({ a: 1 }, null)).toBe(null);
  });
});
