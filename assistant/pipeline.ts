import type { ModelMessage } from 'ai';
import * as z from 'zod';
import { isJsonObject, json, type Json } from '../protocol/index.js';
import { AssistantError } from './assistant-error.js';
import { frameOf, type Context } from './context.js';
import type { DelegateInput } from './delegate.js';
import { callModel, type ModelSettings } from './model/call-model.js';
import type { ModelSource } from './model/model.js';
import type { Completion } from './model/completion.js';
import { toModelMessages, toolResults } from './model/model-messages.js';
import type { RetryPolicy } from './retry.js';
import { runTool, type ToolResult } from './run-tool.js';
import type { Tools } from './tool.js';

/** To whom a hook hands over, and with what; without messages the input of this turn. */
export interface Delegation {
  readonly assistantId: string;
  readonly messages?: DelegateInput;
}

/** What the `create` hook may give. */
export interface Created {
  /** What the model is given instead. */
  readonly messages?: readonly ModelMessage[];
  /** Another assistant answers. */
  readonly delegate?: Delegation;
}

/** What the `next` hook is given. */
export interface NextPayload {
  /** What the model said last; null without a model. */
  readonly completion: Completion | null;
  /** What the tools came to, of all rounds. */
  readonly tools: readonly ToolResult[];
}

/** What the `next` hook may give. It answers by `ctx.send`. */
export interface Next {
  /** The output of this assistant, for whoever called it. */
  readonly data?: Json;
  /** Another assistant goes on. */
  readonly delegate?: Delegation;
}

type MaybePromise<T> = T | Promise<T>;

/** The stages of an assistant, in order: each is a step, and each may be left out. */
export interface Pipeline {
  /** Before the model: may rewrite what it is given, send, or hand over. */
  readonly create?: (ctx: Context, payload: { messages: ModelMessage[] }) => MaybePromise<Created | void>;
  /** Any model of the AI SDK. */
  readonly model?: ModelSource;
  /** The system prompt. */
  readonly instructions?: string | ((ctx: Context) => MaybePromise<string>);
  readonly tools?: Tools;
  /** After the model: may answer, give data, or hand over. */
  readonly next?: (ctx: Context, payload: NextPayload) => MaybePromise<Next | void>;
  /** Model calls in one run, at most. Default 20. */
  readonly maxSteps?: number;
  /** How often a failed model call is tried again. Default: 3 tries, where another can help. */
  readonly retry?: RetryPolicy;
  /** The longest silence of the model, milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** Settings of the model call: `temperature`, `maxOutputTokens`, `providerOptions`. */
  readonly settings?: ModelSettings;
}

const MAX_STEPS = 20;

const delegateInput = z.union([z.string(), z.array(z.unknown())]);
const delegation = z.strictObject({ assistantId: z.string(), messages: delegateInput.optional() });
const created = z.strictObject({ messages: z.array(json).optional(), delegate: delegation.optional() }).nullish();
const nextResult = z.strictObject({ data: json.optional(), delegate: delegation.optional() }).nullish();

/**
 * Runs the stages: input → create → (model → tools)… → next. Gives `next`'s data, else what was delegated to gave, else the
 * text of the model.
 *
 * @throws {AssistantError} `bad_result`: a hook gave something else; `max_steps`: the model asked for tools without end
 */
export async function runPipeline(pipeline: Pipeline, ctx: Context): Promise<Json> {
  const { create, next } = pipeline;
  const input = ctx.input.map(({ type, props, metadata }) => ({ type, props, metadata }));
  await ctx.step('input', { messages: input }, () => null, { match: 'type' });

  let messages = stored(toModelMessages([...ctx.history(), ...ctx.input]));
  if (create) {
    const hook = (given: Json) => create(ctx, { messages: messagesOf(given) });
    const result = await hookStep(ctx, 'hook_create', { messages }, hook, created);
    if (result?.delegate) return handOver(ctx, result.delegate as Delegation);
    messages = result?.messages ?? messages;
  }

  const { completion, tools } = await converse(pipeline, ctx, messages);
  if (next) {
    // The hook's payload is the stored one when it runs again: equal to this, but for what a round cost.
    const hook = (given: Json) => next(ctx, given as unknown as NextPayload);
    const result = await hookStep(ctx, 'hook_next', { completion, tools }, hook, nextResult);
    const output = result?.delegate ? await handOver(ctx, result.delegate as Delegation) : null;
    if (result?.data !== undefined) return result.data;
    if (result?.delegate) return output;
  }
  return completion?.content ?? null;
}

/** Model and tools in turn, until the model asks for no more. */
async function converse(
  { model, instructions, tools = {}, maxSteps = MAX_STEPS, retry, timeoutMs, settings }: Pipeline,
  ctx: Context,
  asked: readonly Json[],
): Promise<{ completion: Completion | null; tools: ToolResult[] }> {
  const results: ToolResult[] = [];
  if (!model) return { completion: null, tools: results };
  let messages = asked;
  let system = typeof instructions === 'function' ? await instructions(ctx) : instructions;
  for (let round = 1; round <= maxSteps; round++) {
    const { input, output } = await frameOf(ctx).step({
      type: 'llm',
      input: { ...(system === undefined ? {} : { instructions: system }), messages },
      match: 'type',
      run: async (given) => {
        const said = await callModel(ctx, { ...promptOf(given), model, tools, retry, timeoutMs, settings });
        ctx.addUsage(said.usage as Json);
        return said;
      },
    });
    const completion = output as unknown as Completion;
    if (completion.toolCalls.length === 0) return { completion, tools: results };
    const called = await callTools(ctx, tools, completion);
    results.push(...called);
    // What the model was given then, which may not be what the history would be now.
    const prompt = promptOf(input);
    system = prompt.instructions;
    messages = [
      ...prompt.messages,
      ...completion.messages,
      toolResults(called.map(({ result, ...call }) => ({ ...call, output: result }))),
    ];
  }
  throw new AssistantError('max_steps', `The model asked for tools in ${maxSteps} calls in a row.`);
}

/** All at once. One that fails lets the others come to their end first: what they did is kept. */
async function callTools(ctx: Context, tools: Tools, { toolCalls }: Completion): Promise<ToolResult[]> {
  const settled = await Promise.allSettled(toolCalls.map((call) => runTool(ctx, tools, call)));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function hookStep<S extends z.ZodType>(
  ctx: Context,
  type: 'hook_create' | 'hook_next',
  payload: object,
  hook: (payload: Json) => unknown,
  schema: S,
): Promise<z.output<S>> {
  const output = await ctx.step(type, payload, async (given) => checked(type, await hook(given), schema) as Json, {
    match: 'type',
  });
  return output as z.output<S>;
}

function checked<S extends z.ZodType>(type: string, result: unknown, schema: S): z.output<S> {
  const parsed = schema.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new AssistantError('bad_result', `${type} gave something else than it may: ${z.prettifyError(parsed.error)}`);
}

const handOver = (ctx: Context, { assistantId, messages }: Delegation): Promise<Json> =>
  ctx.delegate(assistantId, messages ?? ctx.input);

function promptOf(input: Json): { instructions?: string; messages: readonly Json[] } {
  const { instructions, messages } = isJsonObject(input) ? input : {};
  return {
    ...(typeof instructions === 'string' ? { instructions } : {}),
    messages: Array.isArray(messages) ? (messages as readonly Json[]) : [],
  };
}

const messagesOf = (input: Json): ModelMessage[] => [...promptOf(input).messages] as unknown as ModelMessage[];
const stored = (messages: readonly ModelMessage[]): readonly Json[] => messages as unknown as readonly Json[];
