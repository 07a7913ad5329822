import { expect, test } from 'vitest';
import { Turnstile } from '../../../stores/turnstile.js';

test('works run in the order of asking, at once where nothing goes on, and one that fails holds nothing up', async () => {
  const turnstile = new Turnstile();
  const order: string[] = [];
  const says = (word: string) => () => void order.push(word);
  void turnstile.run(says('at once'));
  expect(order).toEqual(['at once']);
  let release = (): void => undefined;
  const slow = turnstile.run(async () => {
    await new Promise<void>((resolve) => (release = resolve));
    order.push('slow');
  });
  const fails = turnstile.run(() => {
    throw new Error('no');
  });
  const rejects = turnstile.run(() => Promise.reject(new Error('never')));
  const last = turnstile.run(says('last'));
  expect(order).toEqual(['at once']);
  release();
  await slow;
  await expect(fails).rejects.toThrow('no');
  await expect(rejects).rejects.toThrow('never');
  await last;
  void turnstile.run(says('again at once'));
  expect(order).toEqual(['at once', 'slow', 'last', 'again at once']);
});
