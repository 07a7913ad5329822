import { expect, test } from 'vitest';
import { keptForm } from '../../../stores/kept-form.js';

test('what a room keeps is read from what it saved, and from no input of a turn', () => {
  const metadata = { room: { role: 'system' }, other: 'text' };
  expect(keptForm({ requestId: null, metadata }, 'room')).toEqual({ role: 'system' });
  expect(keptForm({ requestId: 'r-1', metadata }, 'room')).toBeNull();
  expect(keptForm({ requestId: null, metadata }, 'other')).toBeNull();
  expect(keptForm({ requestId: null, metadata: null }, 'room')).toBeNull();
});
