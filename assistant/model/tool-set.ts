import type { FlexibleSchema, JSONSchema7, Schema, ToolSet } from 'ai';
import * as z from 'zod';
import type { JsonObject } from '../../protocol/index.js';
import type { Tool, Tools, ToolSchema } from '../tool.js';
import { clipped } from './completion.js';

/**
 * The tools as the AI SDK offers them to a model: with their schemas and nothing that runs. Input is not validated there,
 * so that what is stored is what the model wrote, and not what a schema has made of it: see {@link validInput}.
 */
export async function toToolSet(tools: Tools): Promise<ToolSet> {
  const { jsonSchema } = await import('ai');
  const entries = Object.entries(tools).map(async ([name, { description, inputSchema }]) => {
    const schema = await asSdkSchema(inputSchema);
    const offered = { inputSchema: jsonSchema(await schema.jsonSchema) };
    return [name, description === undefined ? offered : { ...offered, description }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

export type ValidInput =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

/**
 * What a tool's schema makes of an input, or a sentence for the model that says what is wrong with it. It never rejects:
 * a schema that throws is an input that does not fit.
 */
export async function validInput(tool: Tool, input: unknown): Promise<ValidInput> {
  try {
    const { validate } = await asSdkSchema(tool.inputSchema);
    if (validate === undefined) return { ok: true, value: input };
    const result = await validate(input);
    return result.success ? { ok: true, value: result.value } : { ok: false, error: sentence(result.error) };
  } catch (error) {
    return { ok: false, error: sentence(error) };
  }
}

async function asSdkSchema(schema: ToolSchema): Promise<Schema> {
  const { asSchema, jsonSchema } = await import('ai');
  if (!isJsonSchema(schema)) return asSchema(schema as FlexibleSchema<unknown>);
  const checked = readable(schema);
  return jsonSchema(schema as JSONSchema7, {
    validate: (value) => {
      const result = checked?.safeParse(value) ?? { success: true, data: value };
      return result.success ? { success: true, value: result.data } : { success: false, error: result.error };
    },
  });
}

/** JSON Schema as far as zod can read it; what it cannot read is told to the model, and the tool has to look itself. */
function readable(schema: JsonObject): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return null;
  }
}

/** The AI SDK marks its schemas by a symbol, zod and its kin by the standard's name. */
const isJsonSchema = (schema: ToolSchema): schema is JsonObject =>
  !('~standard' in schema) && !(Symbol.for('vercel.ai.schema') in schema);

function sentence(error: unknown): string {
  const inner = issuesOf(error) ?? issuesOf((Object(error) as { cause?: unknown }).cause);
  const text = inner === null ? (error instanceof Error ? error.message : String(error)) : z.prettifyError(inner);
  return clipped(`The input does not fit: ${text}`);
}

/** zod's issues, whichever zod made them. */
function issuesOf(error: unknown): Parameters<typeof z.prettifyError>[0] | null {
  const issues = (Object(error) as { issues?: unknown }).issues;
  return Array.isArray(issues) ? (error as Parameters<typeof z.prettifyError>[0]) : null;
}
