import type { LanguageModelCallOptions, ModelMessage, RequestOptions, streamText, TextStreamPart, ToolSet } from 'ai';
import { wellFormed, type Json } from '../../protocol/index.js';
import { Outside } from '../outside.js';
import { withRetry, type RetryPolicy } from '../retry.js';
import { isRetryable } from '../retryable.js';
import { TimeoutError, withSilenceLimit, type Listen } from '../time-limit.js';
import type { Tools } from '../tool.js';
import { clipped, storable, storableMessages, usageOf, type Completion, type ToolCall } from './completion.js';
import { namedFiles, refuseDownloads } from './file-parts.js';
import { ModelError, modelErrorOf } from './model-error.js';
import type { ModelSource } from './model.js';
import { ShownMessages, type ModelContext } from './shown-messages.js';
import { toToolSet, validInput } from './tool-set.js';

/** The AI SDK's own settings of a call: `temperature`, `maxOutputTokens`, `toolChoice`, `providerOptions` and their like. */
export type ModelSettings = LanguageModelCallOptions &
  Pick<RequestOptions<ToolSet>, 'headers'> &
  Partial<Pick<StreamTextOptions, 'toolChoice' | 'providerOptions'>>;
type StreamTextOptions = Parameters<typeof streamText>[0];

/** What one round with a model is made of. */
export interface ModelCall {
  readonly model: ModelSource;
  readonly instructions?: string | undefined;
  /** AI SDK messages, also as they come back from a store. */
  readonly messages: readonly (ModelMessage | Json)[];
  readonly tools?: Tools | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** The longest silence before the first part and between two parts, milliseconds; default 120,000. */
  readonly timeoutMs?: number | undefined;
  readonly settings?: ModelSettings | undefined;
}

const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * One round with a model: what it says is shown while it says it, what it asks for is returned and not executed.
 *
 * A try that fails in a way that another may mend is repeated by the policy, and nothing is shown twice: see
 * {@link ShownMessages}. Only the model's failures are retried, never a refusal of what was sent to the chat. URLs in the
 * messages are never fetched by this process, which may see more of the network than the person who named them.
 *
 * @throws {ModelError | TimeoutError} the model did not answer; the reason of the abort; what `ctx` throws
 */
export async function callModel(ctx: ModelContext, call: ModelCall): Promise<Completion> {
  const shown = new ShownMessages(ctx);
  const canHelp = call.retry?.retryable ?? isRetryable;
  const retryable = (error: unknown): boolean =>
    (error instanceof ModelError || error instanceof TimeoutError) && canHelp(error);
  try {
    const completion = await withRetry(ctx, { ...call.retry, retryable }, () => {
      shown.startOver();
      return tryOnce(ctx, call, shown);
    });
    await shown.close();
    return completion;
  } catch (error) {
    // The turn goes on where an assistant catches this. The error is what happened, whether or not this succeeds.
    if (!ctx.abortSignal.aborted) await shown.leave().catch(() => undefined);
    throw error;
  }
}

async function tryOnce(ctx: ModelContext, call: ModelCall, shown: ShownMessages): Promise<Completion> {
  const sdk = await import('ai');
  const model = await (typeof call.model === 'function' ? call.model() : call.model);
  const tools = await toToolSet(call.tools ?? {});
  const hasTools = Object.keys(tools).length > 0;
  const messages = await namedFiles(call.messages as ModelMessage[], model);

  return withSilenceLimit(ctx, call.timeoutMs ?? DEFAULT_TIMEOUT_MS, async (signal, listen) => {
    try {
      const result = sdk.streamText({
        ...call.settings,
        model,
        messages,
        // They come from the assistant's own code: what people say is never made into one.
        allowSystemInMessages: true,
        ...(call.instructions ? { instructions: call.instructions } : {}),
        ...(hasTools ? { tools } : {}),
        maxRetries: 0,
        abortSignal: signal,
        experimental_download: refuseDownloads,
        // The SDK writes errors to the console where nobody listens; ours come with the stream.
        onError: () => undefined,
      });
      const round = new Round(shown, call.tools ?? {});
      await heardThrough(listen, result.stream, signal, round);
      return await round.completion(() => result.responseMessages);
    } catch (error) {
      if (error instanceof Outside) throw error.cause;
      // What an abort makes of a stream differs by provider; what it was aborted for does not.
      signal.throwIfAborted();
      throw modelErrorOf(error);
    }
  });
}

async function heardThrough(
  listen: Listen,
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  signal: AbortSignal,
  round: Round,
): Promise<void> {
  for await (const part of listen(stream)) {
    if (part.type === 'error') throw modelErrorOf(part.error);
    if (part.type === 'abort') signal.throwIfAborted();
    try {
      await round.take(part);
    } catch (error) {
      throw new Outside(error);
    }
  }
}

/** One try: takes the parts of the stream, shows them, and is a completion in the end. */
class Round {
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #calls: Promise<ToolCall>[] = [];
  #finish: Extract<TextStreamPart<ToolSet>, { type: 'finish-step' }> | null = null;

  constructor(
    private readonly shown: ShownMessages,
    private readonly tools: Tools,
  ) {}

  async take(part: TextStreamPart<ToolSet>): Promise<void> {
    switch (part.type) {
      case 'text-delta':
        this.#text.push(part.text);
        return this.shown.write('text', part.id, part.text);
      case 'text-end':
        return this.shown.finish('text', part.id);
      case 'reasoning-delta':
        this.#reasoning.push(part.text);
        return this.shown.write('thinking', part.id, part.text);
      case 'reasoning-end':
        return this.shown.finish('thinking', part.id);
      case 'tool-call':
        if (part.providerExecuted !== true) this.#calls.push(this.#toolCall(part));
        return;
      case 'finish-step':
        this.#finish = part;
        return;
      default:
        return;
    }
  }

  /** @throws {ModelError} the stream came to no end, or to one without an answer */
  async completion(said: () => PromiseLike<readonly ModelMessage[]>): Promise<Completion> {
    const finish = this.#finish;
    // The SDK makes up `other` for a stream that just ends; a provider's own comes with its word for it.
    if (finish === null || (finish.finishReason === 'other' && finish.rawFinishReason === undefined)) {
      throw new ModelError('The model stopped in the middle of its answer.', { retryable: true });
    }
    const { finishReason, rawFinishReason } = finish;
    const content = this.#text.join('');
    if (finishReason === 'error') {
      throw new ModelError(`The model ended with an error (${rawFinishReason ?? 'no reason'}).`, { retryable: true });
    }
    if (finishReason === 'content-filter' && content.trim() === '') {
      throw new ModelError('The model gave no answer: its content filter held it back.', { retryable: false });
    }
    return {
      content: wellFormed(content),
      reasoning: this.#reasoning.length === 0 ? null : wellFormed(this.#reasoning.join('')),
      toolCalls: await Promise.all(this.#calls),
      finishReason,
      usage: usageOf(finish.usage),
      messages: storableMessages(await said()),
    };
  }

  async #toolCall(part: Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>): Promise<ToolCall> {
    const { toolCallId, toolName } = part;
    const given = storable(part.input);
    const call = { toolCallId, tool: toolName, input: given ?? {} };
    const tool = Object.hasOwn(this.tools, toolName) ? this.tools[toolName] : undefined;
    if (tool === undefined) {
      const names = Object.keys(this.tools).join(', ') || 'none';
      return { ...call, error: clipped(`There is no tool ${JSON.stringify(toolName)}. The tools are: ${names}.`) };
    }
    if (part.invalid === true) return { ...call, error: 'The input is not JSON.' };
    if (given === undefined)
      return { ...call, error: 'The input is JSON that cannot be kept: too deep, or a bad key.' };
    const valid = await validInput(tool, given);
    return { ...call, error: valid.ok ? null : valid.error };
  }
}
