import { describe, expect, test } from 'vitest';
import { EVERYWHERE, expectHolds, stage, stubModel } from './bee-generations.js';

describe.each(EVERYWHERE)('bee: memories of $generation, $host', (where) => {
  const { MemoryFatalError, BaseMemory } = where;

  test('seed sample: isEmpty, messages, asReadOnly, iteration and reset; it is the BaseMemory of the framework', async () => {
    const { memories, message, texts } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'sample' });
    expect(memory).toBeInstanceOf(BaseMemory);
    expect(memory.isEmpty()).toBe(true);
    await memory.add(message('system', 'You are a helpful assistant.'));
    await memory.addMany([message('user', 'What can you do?'), message('assistant', 'Everything!')]);
    expect(memory.isEmpty()).toBe(false);
    expect([...memory].map(({ role }: any) => role)).toEqual(['system', 'user', 'assistant']);
    const view = memory.asReadOnly();
    expect(memory.asReadOnly()).not.toBe(view);
    await view.add(message('user', 'ignored'));
    expect(await view.delete(memory.messages[0])).toBe(false);
    view.reset();
    expect(texts(view)).toEqual(texts(memory));
    await memory.add(message('user', 'later'));
    expect(texts(view).at(-1)).toBe('later');
    await expectHolds(memory, ['You are a helpful assistant.', 'What can you do?', 'Everything!', 'later']);
    memory.reset();
    expect(memory.isEmpty()).toBe(true);
    await expectHolds(memory, []);
  });

  test('3a add: an index is brought into range, 0 is the front, 99 and none the end, -5 the front', async () => {
    const { memories, user, reread } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: ['index', 'ä/…'] });
    await memory.add(user('b'));
    await memory.add(user('a'), 0);
    await memory.add(user('d'), 99);
    await memory.add(user('0'), -5);
    await memory.add(user('c'), 3);
    await memory.addMany([user('x'), user('y')], 1);
    await expectHolds(memory, ['0', 'x', 'y', 'a', 'b', 'c', 'd']);
    expect(await reread(memories.UnconstrainedMemory, { key: ['index', 'ä/…'] })).toEqual([
      '0',
      'x',
      'y',
      'a',
      'b',
      'c',
      'd',
    ]);
  });

  test('3a delete: by identity; equal content is another message; of one that is there twice the first goes', async () => {
    const { memories, user } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'delete' });
    const [a, b] = [user('a'), user('b')];
    await memory.addMany([a, b, a]);
    expect(await memory.delete(user('b'))).toBe(false);
    expect(await memory.delete(a)).toBe(true);
    await expectHolds(memory, ['b', 'a']);
    expect(memory.messages[1]).toBe(a);
    expect(await memory.delete(b)).toBe(true);
    expect(await memory.delete(b)).toBe(false);
    await memory.addMany(
      (async function* () {
        yield* ['x', 'y', 'z'].map(user);
      })(),
      0,
    );
    await expectHolds(memory, ['x', 'y', 'z', 'a']);
    await memory.deleteMany(
      (async function* () {
        yield memory.messages[1];
      })(),
    );
    await expectHolds(memory, ['x', 'z', 'a']);
    await memory.deleteMany(memory.messages);
    await expectHolds(memory, []);
  });

  test('3c.8: splice(-1,1,x), (-1,2,x), (-2,2,x,y) and (0,2,x,y) leave ten messages as they were', async () => {
    const { memories, user, texts } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'splice' });
    const m = Array.from({ length: 10 }, (_, index) => user(`m${index + 1}`));
    await memory.addMany(m);
    const all = texts(memory);
    for (const [start, count, ...items] of [
      [-1, 1, m[9]],
      [-1, 2, m[9]],
      [-2, 2, m[8], m[9]],
      [0, 2, m[0], m[1]],
    ] as [number, number, ...object[]][]) {
      const removed = await memory.splice(start, count, ...items);
      expect(removed).toEqual(items);
      await expectHolds(memory, all);
    }
    expect((await memory.splice(1, 99, user('x'))).length).toBe(9);
    await expectHolds(memory, ['m1', 'x']);
    await memory.splice(9, 1, user('y'));
    await memory.splice(-9, 0, user('z'));
    await expectHolds(memory, ['z', 'm1', 'x', 'y']);
  });

  test('3c.1, 3c.2, 3c.3: sliding, with the oldest, a selector that spares the system message, and one that takes pairs', async () => {
    const { memories, user, message } = await stage(where);
    const { SlidingMemory } = memories;
    const plain = await SlidingMemory.open({ key: 'sliding', size: 2 });
    for (const text of ['A', 'B', 'C']) await plain.add(user(text));
    await expectHolds(plain, ['B', 'C']);

    const spares = await SlidingMemory.open({
      key: 'spares',
      size: 2,
      handlers: { removalSelector: (messages: any[]) => messages.find(({ role }) => role !== 'system') },
    });
    await spares.addMany([message('system', 'S'), user('A'), user('B'), user('C')]);
    await expectHolds(spares, ['S', 'C']);

    const pairs = await SlidingMemory.open({
      key: 'pairs',
      size: 5,
      handlers: {
        removalSelector: (messages: any[]) => [
          messages.find(({ role }) => role === 'user'),
          messages.find(({ role }) => role === 'assistant'),
        ],
      },
    });
    const roles = ['user', 'assistant', 'user', 'assistant', 'user', 'user'];
    for (const [index, role] of roles.entries()) await pairs.add(message(role, `${index + 1}`));
    await expectHolds(pairs, ['3', '4', '5', '6']);
  });

  test('3c.10: the sliding sample of the seed ends with system, the second question and its answer', async () => {
    const { memories, message } = await stage(where);
    const memory = await memories.SlidingMemory.open({
      key: 'france',
      size: 3,
      handlers: { removalSelector: (messages: any[]) => messages.find(({ role }) => role !== 'system') },
    });
    await memory.add(message('system', 'You are a guide through France.'));
    await memory.add(message('user', 'What is the capital?'));
    await memory.add(message('assistant', 'Paris'));
    await memory.add(message('user', 'What language is spoken there?'));
    await memory.add(message('assistant', 'French'));
    await expectHolds(memory, ['You are a guide through France.', 'What language is spoken there?', 'French']);
  });

  test('3a, 3c.9 sliding: what a selector must not return is a fatal error, and nothing is changed, here or in the chat', async () => {
    const { memories, user } = await stage(where);
    let chosen: (messages: any[]) => any = () => undefined;
    const memory = await memories.SlidingMemory.open({
      key: 'wrong',
      size: 2,
      handlers: { removalSelector: (messages: any[]) => chosen(messages) },
    });
    await memory.addMany([user('A'), user('B')]);
    const refusal = async () => memory.add(user('C')).catch((error: unknown) => error) as Promise<any>;
    for (const [selector, says] of [
      [() => undefined, 'overflow'],
      [() => [], 'overflow'],
      [() => [null], 'overflow'],
      [() => user('foreign'), 'non existing'],
      [(messages: any[]) => [messages[0], messages[0]], 'non existing'],
      [(messages: any[]) => messages.splice(0), null],
    ] as [typeof chosen, string | null][]) {
      if (says === null) break;
      chosen = selector;
      const error = await refusal();
      expect(error).toBeInstanceOf(MemoryFatalError);
      expect(error).toMatchObject({ isFatal: true, isRetryable: false, message: expect.stringContaining(says) });
      await expectHolds(memory, ['A', 'B']);
    }
    // A selector may do with its copy what it likes.
    chosen = (messages) => messages.splice(0);
    await memory.add(user('C'), 0);
    await expectHolds(memory, ['C']);
    const none = await memories.SlidingMemory.open({ key: 'none', size: 0 });
    await expect(none.add(user('A'))).rejects.toBeInstanceOf(MemoryFatalError);
    await expectHolds(none, []);
  });

  test('3a sliding: the index counts after what had to go', async () => {
    const { memories, user } = await stage(where);
    const memory = await memories.SlidingMemory.open({ key: 'at', size: 3 });
    await memory.addMany([user('a'), user('b'), user('c')]);
    await memory.add(user('x'), 0);
    await memory.add(user('y'), 1);
    await expectHolds(memory, ['b', 'y', 'c']);
  });

  /** Both ways of saying how tokens are counted: the seed's llm, the present one's handler. */
  const counting = (estimate: number, real: number, more: object = {}) => ({
    llm: { ...stubModel(), tokenize: async (messages: any[]) => ({ tokensCount: messages.length * real }) },
    handlers: {
      estimate: () => estimate,
      tokenize: async (messages: any[]) => messages.length * real,
    },
    ...more,
  });

  test('3c.5: guessed 1, real 2, at most 4, sync from half on: A to D leave two messages, 4 tokens, clean', async () => {
    const { memories, user } = await stage(where);
    const memory = await memories.TokenMemory.open({
      key: 't',
      ...counting(1, 2, { maxTokens: 4, syncThreshold: 0.5 }),
    });
    for (const text of ['A', 'B', 'C', 'D']) await memory.add(user(text));
    expect(memory.stats()).toEqual({ tokensUsed: 4, maxTokens: 4, messagesCount: 2, isDirty: false });
    await expectHolds(memory, ['C', 'D']);
    expect(memory.stats()).toMatchObject({ isDirty: false });
  });

  test('3c.6: at most 10, sync at the top only: six adds are dirty; after sync five are left, clean, with 10', async () => {
    const { memories, user } = await stage(where);
    const memory = await memories.TokenMemory.open({
      key: 't',
      ...counting(1, 2, { maxTokens: 10, syncThreshold: 1 }),
    });
    expect(memory.stats()).toMatchObject({ tokensUsed: 0, messagesCount: 0, isDirty: false });
    for (const text of ['1', '2', '3', '4', '5', '6']) await memory.add(user(text));
    expect(memory.stats()).toEqual({ tokensUsed: 6, maxTokens: 10, messagesCount: 6, isDirty: true });
    await memory.sync();
    expect(memory.stats()).toEqual({ tokensUsed: 10, maxTokens: 10, messagesCount: 5, isDirty: false });
    await expectHolds(memory, ['2', '3', '4', '5', '6']);
    memory.reset();
    expect(memory.stats()).toEqual({ tokensUsed: 0, maxTokens: 10, messagesCount: 0, isDirty: false });
  });

  test('3a, 3c.9 token: without a maximum it is that of the generation, asked for at the first add; guesses are a quarter of the letters', async () => {
    const { memories, user } = await stage(where);
    const llm = stubModel();
    const memory = await memories.TokenMemory.open({ key: 't', llm, handlers: { tokenize: async () => 4 } });
    for (const text of ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee']) await memory.add(user(text));
    if (where.generation === 'bee-agent-framework') {
      // Three quarters of what the model takes, which is 20: three messages of four letters.
      expect(memory.stats()).toEqual({ tokensUsed: 12, maxTokens: 15, messagesCount: 3, isDirty: false });
      return expectHolds(memory, ['cccc', 'dddd', 'eeee']);
    }
    // A role and a text of four letters each are two; counted at a quarter of the maximum only.
    expect(memory.stats()).toEqual({ tokensUsed: 10, maxTokens: 128_000, messagesCount: 5, isDirty: true });
    return expectHolds(memory, ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee']);
  });

  test('3a token: what cannot fit is a fatal error, a wrong selector too; nothing is changed', async () => {
    const { memories, user } = await stage(where);
    let chosen: (messages: any[]) => any = (messages) => messages[0];
    const memory = await memories.TokenMemory.open({
      key: 't',
      maxTokens: 10,
      syncThreshold: 2,
      handlers: { estimate: ({ text }: any) => text.length, removalSelector: (messages: any[]) => chosen(messages) },
    });
    await memory.addMany([user('aaaa'), user('bbbb')]);
    await expect(memory.add(user('x'.repeat(11)))).rejects.toThrow(/cannot fit/);
    for (const selector of [() => undefined, () => user('foreign')]) {
      chosen = selector;
      await expect(memory.add(user('cccc'))).rejects.toThrow(/removalSelector/);
      await expect(memory.add(user('cccc'))).rejects.toBeInstanceOf(MemoryFatalError);
    }
    // The first choice is fine, the second is not: in the framework one message would be gone.
    let calls = 0;
    chosen = (messages) => (calls++ === 0 ? messages[0] : undefined);
    await expect(memory.add(user('x'.repeat(10)))).rejects.toThrow(/removalSelector/);
    await expectHolds(memory, ['aaaa', 'bbbb']);
    chosen = (messages) => messages[1];
    await memory.add(user('dddd'));
    await expectHolds(memory, ['aaaa', 'dddd']);
    const { TokenMemory } = memories;
    for (const capacityThreshold of [0, -1, NaN])
      expect(() => new TokenMemory({ key: 't', capacityThreshold })).toThrow(TypeError);
    expect(() => new TokenMemory({ key: 't', capacityThreshold: 2 })).not.toThrow();
  });

  test('3d sync: a message whose real count is too large leaves the memory as it is, which the framework empties', async () => {
    const { memories, user } = await stage(where);
    let real = 2;
    const memory = await memories.TokenMemory.open({
      key: 't',
      maxTokens: 10,
      syncThreshold: 1,
      llm: { ...stubModel(), tokenize: async () => ({ tokensCount: real }) },
      handlers: { estimate: () => 2, tokenize: async () => real },
    });
    await memory.addMany([user('a'), user('b'), user('c'), user('d')]);
    real = 99;
    await expect(memory.add(user('e'))).rejects.toThrow(/cannot fit/);
    await expect(memory.sync()).rejects.toThrow(/cannot fit/);
    await expectHolds(memory, ['a', 'b', 'c', 'd']);
  });

  test('3a token: a reset while tokens are counted stands, and what was added before it is gone', async () => {
    const { memories, user } = await stage(where);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const memory = await memories.TokenMemory.open({
      key: 't',
      maxTokens: 10,
      syncThreshold: 0,
      llm: { ...stubModel(), tokenize: async () => (await held, { tokensCount: 1 }) },
      handlers: { tokenize: async () => (await held, 1) },
    });
    const before = memory.add(user('before'));
    memory.reset();
    const after = memory.add(user('after'));
    release();
    await Promise.all([before, after]);
    await expectHolds(memory, ['after']);
  });

  test('3c.9 summarize: one message, the summary before is in the next prompt, delete is false, reset empties; one row that changes', async () => {
    const { memories, user, message, rows, texts } = await stage(where);
    const llm = stubModel();
    const memory = await memories.SummarizeMemory.open({ chatId: 'summary', llm });
    expect(memory.messages).toEqual([]);
    await memory.addMany([message('system', 'S'), user('A'), user('B')], 7);
    expect(llm.asked).toEqual(['', '|system: S', '|system: S|user: A']);
    expect(memory.messages).toHaveLength(1);
    expect(memory.messages[0]).toMatchObject({ role: 'assistant', text: '|system: S|user: A|user: B' });
    expect(await memory.delete(memory.messages[0])).toBe(false);
    const [row, ...others] = await rows('summary');
    expect(others).toEqual([]);
    expect(row).toMatchObject({ sequence: 1, props: { content: '|system: S|user: A|user: B' } });
    const again = await memories.SummarizeMemory.open({ chatId: 'summary', llm });
    await again.add(user('C'));
    expect(texts(again)).toEqual(['|system: S|user: A|user: B|user: C']);
    expect((await rows('summary')).map(({ messageId }) => messageId)).toEqual([row!.messageId]);
    await expectHolds(again, ['|system: S|user: A|user: B|user: C']);
    again.reset();
    expect(again.isEmpty()).toBe(true);
    await expectHolds(again, []);
    await again.add(user('D'));
    await expectHolds(again, ['|user: D']);
  });

  test('3a summarize: the error of the model is thrown and the summary stays; adds at once build on each other', async () => {
    const { memories, user } = await stage(where);
    let fails = false;
    const llm = stubModel((summary, line) => {
      if (fails) throw new Error('no model');
      return `${summary}${line.at(-1)}`;
    });
    const memory = await memories.SummarizeMemory.open({ key: 's', llm });
    await Promise.all(['A', 'B', 'C', 'D'].map((text) => memory.add(user(text))));
    fails = true;
    await expect(memory.add(user('E'))).rejects.toThrow('no model');
    await expectHolds(memory, ['ABCD']);
  });

  test('3c.9 clone: another memory, in a chat of its own', async () => {
    const { memories, user, texts } = await stage(where);
    const options = { size: 2, handlers: { removalSelector: (messages: any[]) => messages[1] } };
    const llm = stubModel((summary, line) => `${summary}${line.at(-1)}`);
    for (const memory of [
      await memories.UnconstrainedMemory.open({ key: 'u' }),
      await memories.SlidingMemory.open({ key: 's', ...options }),
      await memories.TokenMemory.open({ key: 't', maxTokens: 100, llm }),
      await memories.SummarizeMemory.open({ key: 'z', llm }),
    ]) {
      await memory.addMany([user('A'), user('B')]);
      const held = texts(memory);
      const copy = await memory.clone();
      expect(texts(copy)).toEqual(held);
      await copy.add(user('C'));
      expect(texts(copy)).not.toEqual(held);
      await expectHolds(copy, texts(copy));
      await expectHolds(memory, held);
      expect(copy.createSnapshot().chatId).not.toBe(memory.createSnapshot().chatId);
    }
  });
});
