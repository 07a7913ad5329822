import { expect, test } from 'vitest';
import * as z from 'zod/v4';
import { SchemaRegistry } from '../../stores/atomic/index.js';
import { faultsOf } from './compiled.js';

/** What a program writes whose zod is another one than this package's. */
const PROGRAM = `
import * as three from 'zod';
import * as z from 'zod/v4';
import { SchemaRegistry } from '../../stores/atomic/index.js';

const schemas = new SchemaRegistry({ Answer: z.object({ text: z.string() }) });
export const text: string = schemas.make('Answer', { text: 'Rayleigh.' }).data.text;
// @ts-expect-error a schema says what it takes
schemas.make('Answer', { text: 1 });
// @ts-expect-error schemas of zod 3 are none
new SchemaRegistry({ Answer: three.object({ text: three.string() }) });
`;

test('Atomic: schemas of any zod 4 fit, in types', () => {
  expect(faultsOf(PROGRAM)).toEqual([]);
}, 120_000);

test('Atomic: schemas of any zod 4 fit, as they run', () => {
  const schemas = new SchemaRegistry({ Answer: z.object({ text: z.string() }) });
  expect(schemas.make('Answer', { text: 'Rayleigh.' }).json).toEqual({ text: 'Rayleigh.' });
  expect(() => schemas.read('Answer', { text: 1 })).toThrow(
    /^Answer: ✖ Invalid input: expected string, received number/,
  );
});
