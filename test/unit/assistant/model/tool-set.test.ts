import { asSchema, jsonSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toToolSet, validInput } from '../../../../assistant/model/tool-set.js';
import { tool, type Tools } from '../../../../assistant/tool.js';

const byZod = tool({
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.coerce.number().default(2) }),
  // The types are those of the schema: this would not compile otherwise.
  execute: ({ a, b }) => a + b,
});
const byJsonSchema = tool({
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  execute: (input) => input,
});
const bySdkSchema = tool({
  inputSchema: jsonSchema<{ a: number }>(
    { type: 'object', properties: { a: { type: 'number' } } },
    {
      validate: (value) =>
        typeof (value as { a: unknown }).a === 'number'
          ? { success: true, value: value as { a: number } }
          : { success: false, error: new Error('a is no number') },
    },
  ),
  execute: ({ a }) => a,
});
const tools: Tools = { byZod, byJsonSchema, bySdkSchema };

describe('tools for a model', () => {
  it('are offered with their schemas, and nothing that runs', async () => {
    const set = await toToolSet(tools);
    expect(Object.keys(set)).toEqual(['byZod', 'byJsonSchema', 'bySdkSchema']);
    for (const offered of Object.values(set)) {
      expect(offered.execute).toBeUndefined();
      expect(await asSchema(offered.inputSchema).jsonSchema).toMatchObject({ properties: { a: { type: 'number' } } });
    }
    expect(set['byZod']!.description).toBe('Adds.');
    // What may be left out is not required of the model.
    expect(await asSchema(set['byZod']!.inputSchema).jsonSchema).toMatchObject({ required: ['a'] });
  });

  it.each(Object.entries(tools))('%s: takes an input that fits, and says why another does not', async (_, given) => {
    await expect(validInput(given, { a: 1 })).resolves.toMatchObject({ ok: true, value: { a: 1 } });
    for (const bad of [{ a: 'one' }, { a: null }]) {
      const result = await validInput(given, bad);
      expect(result).toMatchObject({
        ok: false,
        error: expect.stringMatching(/does not fit.*(number|no number)/s) as string,
      });
    }
  });

  it('get what their schema makes of it', async () => {
    await expect(validInput(byZod, { a: 1, b: '5' })).resolves.toEqual({ ok: true, value: { a: 1, b: 5 } });
    await expect(validInput(byZod, { a: 1 })).resolves.toEqual({ ok: true, value: { a: 1, b: 2 } });
    await expect(validInput(byZod, null)).resolves.toMatchObject({ ok: false });
  });

  it('may have a schema that throws, or one that zod cannot read', async () => {
    const thrower = tool({
      inputSchema: z.unknown().transform(() => {
        throw new Error('boom');
      }),
      execute: () => null,
    });
    await expect(validInput(thrower, 1)).resolves.toEqual({ ok: false, error: 'The input does not fit: boom' });
    const strange = tool({ inputSchema: { $ref: 'https://elsewhere.example/schema' }, execute: () => null });
    await expect(validInput(strange, { anything: 1 })).resolves.toMatchObject({ ok: true });
  });
});
