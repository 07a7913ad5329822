import { json, parse, type Json } from '../protocol/index.js';
import { turnErrorOf } from './assistant-error.js';
import { frameOf, type Context } from './context.js';
import type { ToolCall } from './model/completion.js';
import { validInput } from './model/tool-set.js';
import { withRetry } from './retry.js';
import { withTimeout } from './time-limit.js';
import type { Tool, Tools } from './tool.js';

/** What a tool call came to, as the model and the `next` hook are told. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly tool: string;
  readonly args: Json;
  readonly result: Json;
  /** Why there is no result, in words for the model; null where there is one. */
  readonly error: string | null;
}

/**
 * Executes one tool call as a step of its own, with a `tool_call` message that shows its input, its state and what came of
 * it. What the model did wrong is told to the model and is no step.
 *
 * @throws what the tool threw, unless its `onError` is `tell`
 */
export async function runTool(ctx: Context, tools: Tools, call: ToolCall): Promise<ToolResult> {
  const { toolCallId, tool: name, input: args } = call;
  const told = { toolCallId, tool: name, args };
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (call.error !== null || !tool) return { ...told, result: null, error: call.error ?? `There is no tool ${name}.` };
  try {
    const { output } = await frameOf(ctx).step({
      type: 'tool',
      input: { tool: name, toolCallId, args },
      run: (_, { stepId }) => execute(ctx, tool, call, stepId),
    });
    const { result = null } = output as { result?: Json };
    return { ...told, result, error: null };
  } catch (error) {
    if (ctx.abortSignal.aborted || tool.onError !== 'tell') throw error;
    return { ...told, result: null, error: turnErrorOf(error).message };
  }
}

async function execute(
  ctx: Context,
  tool: Tool,
  { toolCallId, tool: name, input }: ToolCall,
  stepId: string,
): Promise<{ result: Json }> {
  const messageId = await ctx.send({
    type: 'tool_call',
    props: { toolCallId, tool: name, input, state: 'running' },
  });
  try {
    const valid = await validInput(tool, input);
    if (!valid.ok) throw new Error(valid.error);
    const given = await withRetry(ctx, tool.retry ?? { attempts: 1 }, () =>
      withTimeout(ctx, tool.timeoutMs, async (abortSignal) =>
        tool.execute(valid.value, ctx, { stepId, toolCallId, abortSignal }),
      ),
    );
    const result = parse(json, given ?? null, ['result']);
    await ctx.merge(messageId, { state: 'completed', output: result });
    await ctx.end(messageId);
    return { result };
  } catch (error) {
    if (!ctx.abortSignal.aborted) {
      // What went wrong with the tool says more than that it could not be shown.
      const shown = ctx.merge(messageId, { state: 'failed', error: turnErrorOf(error).message });
      await shown.then(() => ctx.end(messageId)).catch(() => undefined);
    }
    throw error;
  }
}
