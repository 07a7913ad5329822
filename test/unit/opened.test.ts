import { expect, test } from 'vitest';
import { openAll, Opened, whileOpen } from '../../server/app/opened.js';

test('what was opened is closed once, the last first, and what fails to close keeps nothing else open', async () => {
  const closed: string[] = [];
  const opened = new Opened();
  opened.add(() => void closed.push('first'));
  opened.add(() => {
    closed.push('second');
    throw new Error('stuck');
  });
  opened.add(async () => {
    await Promise.resolve();
    closed.push('third');
  });
  await expect(Promise.all([opened.close(), opened.close()])).rejects.toThrow('stuck');
  await opened.close();
  expect(closed).toEqual(['third', 'second', 'first']);
});

test('where one thing cannot be opened those before it are closed, and it is told why', async () => {
  const closed: string[] = [];
  const opening = openAll((opened) => {
    opened.add(() => {
      closed.push('first');
      throw new Error('stuck');
    });
    throw new Error('no second');
  });
  await expect(opening).rejects.toThrow('no second');
  expect(closed).toEqual(['first']);
});

test('what is closed while it is being opened is not given to anybody, and what came after is closed too', async () => {
  const closed: string[] = [];
  const opening = openAll(async (opened) => {
    opened.add(() => void closed.push('before'));
    await opened.close();
    opened.add(() => void closed.push('after'));
    return 'a server';
  });
  await expect(opening).rejects.toThrow('closed while it was being opened');
  expect(closed).toEqual(['before', 'after']);
});

test('a work has what it needs until it is over', async () => {
  const closed: string[] = [];
  const result = await whileOpen(async (opened) => {
    opened.add(() => void closed.push('a file'));
    await Promise.resolve();
    return closed.length;
  });
  expect([result, closed]).toEqual([0, ['a file']]);
});
