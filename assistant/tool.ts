import type { Schema } from 'ai';
import type * as z from 'zod';
import type { Json, JsonObject } from '../protocol/index.js';
import type { Context } from './context.js';
import type { RetryPolicy } from './retry.js';

/** What a tool takes: a zod schema, a schema of the AI SDK, or JSON Schema. */
export type ToolSchema = z.ZodType | Schema | JsonObject;

/** What `execute` is given: what the schema makes of the model's arguments. */
export type ToolInput<S extends ToolSchema> =
  S extends z.ZodType<infer Output> ? Output : S extends Schema<infer Output> ? Output : Json;

/** One try of one call. */
export interface ToolRun {
  /** The same in every try and every attempt, and unique in the world: a key under which an outside effect happens once. */
  readonly stepId: string;
  /** The model's own name for the call; some number their calls anew in each round. */
  readonly toolCallId: string;
  /** Fires when the turn has ended, or the try has taken too long. */
  readonly abortSignal: AbortSignal;
}

/** Something that a model may ask for by name. */
export interface Tool<Input = unknown> {
  /** What it does and when to use it, for the model to read. */
  readonly description?: string;
  readonly inputSchema: ToolSchema;
  /** How often a failed execution is tried again; default: never. */
  readonly retry?: RetryPolicy;
  /** How long one try may take, milliseconds; default: as long as the turn. */
  readonly timeoutMs?: number;
  /** What a failure is: `fail` (default) ends the turn, which can be resumed there; `tell` lets the model find another way. */
  readonly onError?: 'fail' | 'tell';
  /** Does it. A method, so that tools of different inputs can stand in one record. */
  execute(input: Input, ctx: Context, run: ToolRun): Promise<Json | void> | Json | void;
}

/** The tools of an assistant, by the names that its model calls them: 1 to 64 letters, digits, `_` and `-`. */
export type Tools = Readonly<Record<string, Tool>>;

/**
 * Defines a tool whose `execute` gets the input that its schema promises.
 *
 * ```ts
 * const weather = tool({
 *   description: 'The weather in a city now.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 * ```
 */
export function tool<S extends ToolSchema>(
  definition: Omit<Tool, 'inputSchema' | 'execute'> & {
    readonly inputSchema: S;
    execute(input: ToolInput<S>, ctx: Context, run: ToolRun): Promise<Json | void> | Json | void;
  },
): Tool<ToolInput<S>> {
  return definition;
}
