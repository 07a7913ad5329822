import { expect, test } from 'vitest';
import { ChatError } from '../../../protocol/index.js';
import { WriteQueue, type Writer } from '../../../stores/write-queue.js';
import { until } from '../../harness/until.js';

/** A queue of words, whose writer fails as `fate` says. */
function scene(more: Partial<Writer<string>> = {}) {
  const done: string[] = [];
  const fate = { of: (_word: string): Error | null => null };
  const queue = new WriteQueue<string>({
    together: () => 1,
    write: async (words) => {
      for (const word of words) {
        const failure = fate.of(word);
        if (failure) throw failure;
      }
      done.push(words.join('+'));
    },
    ...more,
  });
  return { queue, done, fate };
}

const refusal = new ChatError('payload_too_large');

test('one that fails holds up the others, in order, until it is tried again', async () => {
  const { queue, done, fate } = scene();
  fate.of = (word) => new Error(`down at ${word}`);
  const written = queue.push('a');
  void queue.push('b');
  await expect(written).rejects.toThrow('down at a');
  await expect(queue.flushed()).rejects.toThrow('down at a');
  await expect(queue.flushed()).rejects.toThrow('down at a');
  expect([queue.length, done]).toEqual([2, []]);
  fate.of = () => null;
  void queue.push('c');
  await queue.flushed();
  expect([queue.length, done]).toEqual([0, ['a', 'b', 'c']]);
});

test('a refusal holds up the others too, where the writer lets nothing go', async () => {
  const { queue, done, fate } = scene();
  fate.of = (word) => (word === 'a' ? refusal : null);
  void queue.push('a');
  void queue.push('b');
  await expect(queue.flushed()).rejects.toBe(refusal);
  await expect(queue.drained()).rejects.toBe(refusal);
  expect([queue.length, done]).toEqual([2, []]);
});

test('what goes together and is refused is written one by one; what was refused is told once, to its asker and by flushed', async () => {
  const dropped: string[] = [];
  const { queue, done, fate } = scene({
    together: (writes) => writes.length,
    refused: (word) => dropped.push(word),
  });
  fate.of = (word) => (word === 'c' ? refusal : null);
  const [a, ...others] = ['a', 'b', 'c', 'd', 'e'].map((word) => queue.push(word));
  await a;
  const told = await Promise.allSettled(others);
  expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect([done, dropped]).toEqual([['a', 'b', 'd', 'e'], ['c']]);
  await queue.drained();
  await expect(queue.flushed()).rejects.toBe(refusal);
  await queue.flushed();
});

test('what is given up is what is not written, once nothing is being written', async () => {
  const { queue, done, fate } = scene();
  fate.of = (word) => (word === 'b' ? new Error('down') : null);
  for (const word of ['a', 'b', 'c']) void queue.push(word);
  expect(await queue.discard()).toEqual(['b', 'c']);
  await queue.flushed();
  expect([queue.length, done]).toEqual([0, ['a']]);
});

test.each([0, 1, 2, 3, 4, 5, 6])(
  'a write that is added as the last one ends, %i ticks on, is not forgotten',
  async (ticks) => {
    const { queue, done } = scene();
    void queue.push('a');
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    void queue.push('b');
    await until(() => done.length === 2, 'both writes, which nobody waits for');
    expect(done).toEqual(['a', 'b']);
  },
);
