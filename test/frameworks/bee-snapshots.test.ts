import { describe, expect, test } from 'vitest';
import { EVERYWHERE, GENERATIONS, HOSTS, expectHolds, stage, stubModel } from './bee-generations.js';

describe.each(EVERYWHERE)('bee: snapshots of $generation, $host', (where) => {
  const { MemoryFatalError } = where;

  test('3c.4, 3c.7: serialize and fromSerialized give the same messages, without functions, handlers, models or messages in the text', async () => {
    const { memories, user, texts } = await stage(where);
    for (const memory of [
      await memories.UnconstrainedMemory.open({ key: ['secret room', 'x'] }),
      await memories.SlidingMemory.open({ chatId: 'sliding', size: 2, assistantId: 'guide' }),
      await memories.TokenMemory.open({ chatId: 'token', maxTokens: 100, syncThreshold: 0.5 }),
    ]) {
      await memory.addMany([user('private A'), user('private B')]);
      const text = await memory.serialize();
      expect(text).not.toMatch(/private|function|=>|Function/);
      const loaded = await memory.constructor.fromSerialized(text);
      await loaded.ready();
      expect(texts(loaded)).toEqual(texts(memory));
      expect(loaded.createSnapshot()).toEqual(memory.createSnapshot());
      await loaded.add(user('C'));
      await memory.refresh();
      expect(texts(memory).at(-1)).toBe('C');
      await expectHolds(memory, texts(loaded));
    }
  });

  test('handlers and models come from whoever loads: without them loading is refused', async () => {
    const { memories, user } = await stage(where);
    const handlers = { removalSelector: (messages: any[]) => messages[1] };
    const memory = await memories.SlidingMemory.open({ key: 'h', size: 2, handlers });
    await memory.addMany([user('A'), user('B')]);
    const snapshot = memory.createSnapshot();
    expect(snapshot).toEqual({
      memory: 'sliding',
      key: 'h',
      settings: { size: 2 },
      needs: ['handlers.removalSelector'],
    });
    const text = await memory.serialize();
    const load = async () => memories.SlidingMemory.fromSerialized(text);
    await expect(load()).rejects.toBeInstanceOf(MemoryFatalError);
    const other = new memories.SlidingMemory({ key: 'unused', size: 9, handlers });
    await other.loadSnapshot(snapshot);
    await other.add(user('C'));
    await expectHolds(other, ['A', 'C']);

    const summary = await memories.SummarizeMemory.open({ key: 's', llm: stubModel() });
    await summary.add(user('A'));
    const loaded = new memories.SummarizeMemory({ key: 'unused', llm: stubModel() });
    await loaded.loadSnapshot(summary.createSnapshot());
    await expectHolds(loaded, ['|user: A']);
    expect(JSON.stringify(summary.createSnapshot())).toBe(
      '{"key":"s","memory":"summarize","settings":{},"needs":["llm"]}',
    );
  });

  test('GHSA-phhm-7927-g88p: no text makes a function, and nothing but a snapshot of the same kind is loaded', async () => {
    const { memories } = await stage(where);
    const memory = await memories.SlidingMemory.open({ key: 'f', size: 2 });
    const { SlidingMemory, UnconstrainedMemory } = memories;
    const ran = globalThis as { beeRan?: boolean };
    const text = await memory.serialize();
    const evil = text.replace(
      '"needs":',
      '"handlers":{"__serializer":true,"__class":"Function","__ref":"99","__value":{"name":"f","fn":"(globalThis.beeRan = true, () => 1)","binds":[]}},"needs":',
    );
    expect(evil).not.toBe(text);
    for (const [Class, bad] of [
      [SlidingMemory, evil],
      [UnconstrainedMemory, text],
      [SlidingMemory, '{}'],
      [SlidingMemory, 'no json'],
      [SlidingMemory, '{"__root":{"snapshot":null}}'],
    ] as const) {
      const load = async () => Class.fromSerialized(bad);
      await expect(load()).rejects.toBeInstanceOf(MemoryFatalError);
    }
    expect(ran.beeRan).toBeUndefined();
  });

  test('3d: no list is shared: a snapshot has none, and messages that were read stay as they were', async () => {
    const { memories, user, texts } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'alias' });
    await memory.add(user('A'));
    const held = memory.messages;
    expect(() => (held as any[]).push(user('smuggled'))).toThrow(TypeError);
    await memory.add(user('B'));
    expect(held).toHaveLength(1);
    expect(texts(memory)).toEqual(['A', 'B']);
    const other = new memories.UnconstrainedMemory({ key: 'other' });
    await other.loadSnapshot(memory.createSnapshot());
    expect(other.messages).not.toBe(memory.messages);
  });

  test('a read-only view goes through a snapshot with its source', async () => {
    const { memories, user, texts } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'view' });
    await memory.add(user('A'));
    const view = memory.asReadOnly();
    const copy = await view.clone();
    expect(texts(copy)).toEqual(['A']);
    const text = await view.serialize();
    expect(text).not.toContain('"A"');
    const loaded = await view.constructor.fromSerialized(text);
    await loaded.source.ready();
    expect(texts(loaded)).toEqual(['A']);
  });
});

test.each(GENERATIONS)('two callers in one program have memories of their own: $generation', async (generation) => {
  const { memories, user, server } = await stage({ ...generation, ...HOSTS[0] });
  const bobs = generation.memoriesOf(server.as({ userId: 'bob' })) as any;
  const memory = await memories.UnconstrainedMemory.open({ chatId: 'private' });
  await memory.add(user('of ann'));
  const other = await bobs.UnconstrainedMemory.open({ chatId: 'private' });
  expect(other.isEmpty()).toBe(true);
  await expect(other.add(user('of bob'))).rejects.toMatchObject({ retryable: false });
  expect(other.isEmpty()).toBe(true);
  await expectHolds(memory, ['of ann']);
});
