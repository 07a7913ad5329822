import { expect, test } from 'vitest';
import { createYaoStore, MemorySpace, YaoStoreError, type Space } from '../../../stores/yao/index.js';

const nobody = { call: () => Promise.reject(new Error('not asked')) };

function spaceAndStore() {
  const space = new MemorySpace();
  return { space, store: createYaoStore(nobody, { space }).space };
}

test('seed 31: a snapshot is a copy both ways, however deep', () => {
  const { space, store } = spaceAndStore();
  expect(store.snapshot()).toEqual({});
  const value = { currency: { code: 'USD' } };
  space.set('preferences', value);
  value.currency.code = 'EUR';
  const snapshot = store.snapshot();
  expect(snapshot).toEqual({ preferences: { currency: { code: 'USD' } } });
  (snapshot as { preferences: { currency: { code: string } } }).preferences.currency.code = 'GBP';
  (space.get('preferences') as { currency: { code: string } }).currency.code = 'JPY';
  expect(store.snapshot()).toEqual({ preferences: { currency: { code: 'USD' } } });
});

test('restoring sets each key and leaves the others; nothing restores nothing', () => {
  const { space, store } = spaceAndStore();
  space.set('a', 1);
  space.set('b', 2);
  const data = { b: { deep: [3] }, c: null };
  store.restore(data);
  data.b.deep.push(4);
  expect(store.snapshot()).toEqual({ a: 1, b: { deep: [3] }, c: null });
  for (const nothing of [null, undefined, {}]) store.restore(nothing);
  expect(store.snapshot()).toEqual({ a: 1, b: { deep: [3] }, c: null });
});

test('what is not JSON, or reaches a prototype, is refused, and then nothing is set', () => {
  const { space, store } = spaceAndStore();
  space.set('a', 1);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const bad of [
    { a: 2, b: () => 1 },
    { a: 2, b: Number.NaN },
    { a: 2, b: new Date(0) },
    { a: 2, b: circle },
    JSON.parse('{"a": 2, "__proto__": {"x": 1}}') as Record<string, unknown>,
    [1] as unknown as Record<string, unknown>,
    'text' as unknown as Record<string, unknown>,
  ]) {
    expect(() => store.restore(bad)).toThrow(YaoStoreError);
    expect(store.snapshot()).toEqual({ a: 1 });
  }
  expect(() => space.set('b', undefined)).toThrow(YaoStoreError);
  expect(() => space.set('__proto__', {})).toThrow(YaoStoreError);
  expect(store.snapshot()).toEqual({ a: 1 });
});

test('values are taken once, deleted, cleared; a key is found as it was set', () => {
  const { space } = spaceAndStore();
  space.set('a', [1]);
  space.set('b\ud800', 2);
  expect([space.has('a'), space.getDel('a'), space.getDel('a'), space.has('a')]).toEqual([true, [1], undefined, false]);
  expect([space.get('b\ud800'), space.get('b\ufffd')]).toEqual([2, 2]);
  expect([space.delete('b\ud800'), space.delete('b\ud800')]).toEqual([true, false]);
  space.set('c', 1);
  space.clear();
  expect([...space.keys()]).toEqual([]);
});

test('a framework brings its own space', () => {
  const values = new Map<string, unknown>([['a', { b: 1 }]]);
  const own: Space = {
    keys: () => values.keys(),
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
  };
  const { space } = createYaoStore(nobody, { space: own });
  const snapshot = space.snapshot();
  values.set('a', 'changed');
  space.restore(snapshot);
  expect(values.get('a')).toEqual({ b: 1 });
  values.set('f', () => 1);
  expect(() => space.snapshot()).toThrow(YaoStoreError);
});
