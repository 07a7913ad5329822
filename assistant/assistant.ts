import * as z from 'zod';
import { assistantId as assistantIdSchema, ChatError, definedOf, parse, type Json } from '../protocol/index.js';
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

const aFunction = z.custom<unknown>((value) => typeof value === 'function', { error: 'expected a function' });
const milliseconds = z.number().positive();
const retryPolicy = z.strictObject({
  attempts: z.int().min(1).optional(),
  backoffMs: z.number().min(0).optional(),
  factor: z.number().min(1).optional(),
  maxBackoffMs: z.number().min(0).optional(),
  retryable: aFunction.optional(),
});
/** Loose: a tool may carry what is its author's own. */
const toolSchema = z.looseObject({
  description: z.string().optional(),
  inputSchema: z.looseObject({}),
  execute: aFunction,
  retry: retryPolicy.optional(),
  timeoutMs: milliseconds.optional(),
  onError: z.enum(['fail', 'tell']).optional(),
});
// A name alone would be looked up with a service that nobody has named.
const modelSchema = z.custom<unknown>(
  (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
  {
    error: 'expected a model of an AI SDK provider, or a function that makes one',
  },
);

const named = { assistantId: assistantIdSchema, name: z.string().min(1).max(200).optional() };
const runSchema = z.strictObject({ ...named, run: aFunction });
const stagesSchema = z
  .strictObject({
    ...named,
    create: aFunction.optional(),
    model: modelSchema.optional(),
    instructions: z.union([z.string(), aFunction]).optional(),
    tools: z
      .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), toolSchema, {
        error: ({ code }) => (code === 'invalid_key' ? 'expected a name of letters, digits, _ and -' : undefined),
      })
      .optional(),
    next: aFunction.optional(),
    maxSteps: z.int().min(1).optional(),
    retry: retryPolicy.optional(),
    timeoutMs: milliseconds.optional(),
    settings: z.looseObject({}).optional(),
  })
  .refine(({ create, model, next }) => create ?? model ?? next, {
    error: 'An assistant needs a model, a hook or run.',
    path: ['run'],
  });

/** What only a model makes use of. */
const FOR_MODELS = ['instructions', 'tools', 'maxSteps', 'retry', 'timeoutMs', 'settings'] as const;

/**
 * An assistant of stages, or of one function. All of the definition is checked here, so that a mistake in it shows when the
 * program starts and not in the middle of a turn.
 *
 * @throws {ChatError} `bad_request` with the field: an id that the protocol does not allow, a setting that there is none of or
 *   that is of another form, no stage at all, stages beside `run`, or what is for a model without one
 */
export function defineAssistant(definition: AssistantDefinition): Assistant {
  // It may be put together from parts that are not there.
  const given = definedOf(definition);
  if (definition.run !== undefined) {
    const { assistantId, name = assistantId } = parse(runSchema, given);
    return { assistantId, name, run: definition.run };
  }
  const { assistantId, name = assistantId, model, ...stages } = parse(stagesSchema, given);
  const vain = FOR_MODELS.find((setting) => model === undefined && stages[setting] !== undefined);
  if (vain) throw new ChatError('bad_request', `${vain}: there is no model to use it.`, { details: { path: vain } });
  const pipeline: Pipeline = definition;
  return { assistantId, name, run: (ctx) => runPipeline(pipeline, ctx) };
}
