import { expect, test } from 'vitest';
import { namedRole, roleOf, speakerOf } from '../../../stores/speaker.js';

test.each(['user', 'assistant', 'system', 'tool', 'a word of your own'])(
  'the role %s is read as it was written',
  (role) => {
    const speaker = speakerOf(role, 'bot');
    expect(speaker).toEqual(role === 'user' ? { role: 'user' } : { role: 'assistant', assistantId: 'bot' });
    expect(roleOf({ role: speaker.role, metadata: namedRole(role) })).toBe(role);
  },
);

test('metadata give a user no other role, and none at all where they name none', () => {
  expect(roleOf({ role: 'user', metadata: { role: 'system' } })).toBe('user');
  for (const metadata of [null, {}, { role: '' }, { role: 7 }])
    expect(roleOf({ role: 'assistant', metadata })).toBe('assistant');
});
