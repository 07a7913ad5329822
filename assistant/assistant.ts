import * as z from 'zod';
import { assistantId as assistantIdSchema, ChatError, parse, type Json } from '../protocol/index.js';
import type { Context } from './context.js';
import { runPipeline, type Pipeline } from './pipeline.js';

/** The code that answers a turn. It runs unchanged inside the server process or in an agent. */
export interface Assistant {
  readonly assistantId: string;
  /** For people to read. */
  readonly name: string;
  /**
   * Answers one frame. What it returns is the frame's output; what it throws ends the frame as failed. When
   * `ctx.abortSignal` fires, nothing it does is taken any more.
   */
  readonly run: (ctx: Context) => Promise<Json | void> | Json | void;
}

interface Named {
  readonly assistantId: string;
  /** For people to read; default: the id. */
  readonly name?: string;
}

/**
 * The stages, or `run` in their place.
 *
 *     defineAssistant({ assistantId: 'poet', model: openai('gpt-5'), instructions: 'Answer in verse.' });
 *     defineAssistant({ assistantId: 'parrot', run: async (ctx) => void (await ctx.send('Hello')) });
 */
export type AssistantDefinition = Named &
  (
    | (Pipeline & { readonly run?: never })
    | ({ readonly run: Assistant['run'] } & { readonly [Stage in keyof Pipeline]?: never })
  );

const someFunction = z.custom<unknown>((value) => typeof value === 'function', { error: 'expected a function' });
const aFunction = someFunction.optional();
const definitionSchema = z.looseObject({
  assistantId: assistantIdSchema,
  name: z.string().min(1).max(200).optional(),
  run: aFunction,
  create: aFunction,
  next: aFunction,
  maxSteps: z.int().min(1).optional(),
  timeoutMs: z.number().positive().optional(),
  tools: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
      z.looseObject({ inputSchema: z.looseObject({}), execute: someFunction }),
      { error: ({ code }) => (code === 'invalid_key' ? 'expected a name of letters, digits, _ and -' : undefined) },
    )
    .optional(),
});

const STAGES = ['create', 'model', 'next'] as const satisfies (keyof Pipeline)[];

/** @throws {ChatError} `bad_request` with the field: an id that the protocol does not allow, no stage at all, or stages beside `run` */
export function defineAssistant(definition: AssistantDefinition): Assistant {
  const { assistantId, name = assistantId } = parse(definitionSchema, definition);
  const stages = STAGES.filter((stage) => definition[stage] !== undefined);
  if (definition.run) {
    if (stages.length > 0)
      throw wrong('run', `run stands in place of the stages, of which ${stages.join(', ')} is given.`);
    return { assistantId, name, run: definition.run };
  }
  if (stages.length === 0) throw wrong('run', 'An assistant needs a model, a hook or run.');
  const pipeline: Pipeline = definition;
  return { assistantId, name, run: (ctx) => runPipeline(pipeline, ctx) };
}

const wrong = (path: string, sentence: string): ChatError =>
  new ChatError('bad_request', sentence, { details: { path } });
