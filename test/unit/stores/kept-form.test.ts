import { expect, test } from 'vitest';
import { inputMessage, op } from '../../../protocol/index.js';
import { keptForm, withForm } from '../../../stores/kept-form.js';

test('rooms keep their forms side by side, beside what else is there', () => {
  const metadata = withForm(withForm({ role: 'system' }, 'room', { a: 1 }), 'other', { b: 2 });
  expect(metadata).toMatchObject({ role: 'system' });
  expect(keptForm({ metadata }, 'room')).toEqual({ a: 1 });
  expect(keptForm({ metadata: withForm(metadata, 'room', { c: 3 }) }, 'room')).toEqual({ c: 3 });
  expect(keptForm({ metadata: withForm(metadata, 'room', { c: 3 }) }, 'other')).toEqual({ b: 2 });
  for (const forged of [null, { room: { a: 1 } }, { stores: 'text' }, { stores: { room: 'text' } }])
    expect(keptForm({ metadata: forged }, 'room')).toBeNull();
});

test('ACC-5: what is said in a turn brings none', () => {
  const metadata = { own: true, ...withForm(null, 'room', { role: 'system' }) };
  const said = { type: 'text', props: {}, metadata };
  expect(inputMessage.parse(said)).toMatchObject({ metadata: { own: true } });
  for (const parsed of [inputMessage.parse(said), op.parse({ op: 'send', ...said })])
    expect('metadata' in parsed && parsed.metadata).toEqual({ own: true });
});
