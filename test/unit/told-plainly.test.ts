import { expect, test } from 'vitest';
import { shownAddress } from '../../server/app/told-plainly.js';

test.each([
  ['redis://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
  ['postgresql://ann@db.example.com/chat?schema=a:b@c', 'postgresql://ann@db.example.com/chat?schema=a:b@c'],
  ['file:data/chat.db', 'file:data/chat.db'],
  ['redis://:secret@h:6379/1', 'redis://:***@h:6379/1'],
  ['postgresql://ann:secret@h/chat', 'postgresql://ann:***@h/chat'],
  ['redis://:sec/ret@h', 'redis://:***@h'],
  ['redis://:sec@ret@h', 'redis://:***@h'],
  ['redis://:sec\nret@h', 'redis://:***@h'],
  ['postgresql://h/x?user=u&password=secret&sslmode=require', 'postgresql://h/x?user=u&password=***&sslmode=require'],
])('%j is shown without its password', (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
  expect(shown).not.toContain('sec');
});
