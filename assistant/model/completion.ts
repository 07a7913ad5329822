import type { FinishReason, LanguageModelUsage, ModelMessage } from 'ai';
import { cleanJson, jsonDepth, wellFormed, type Json, type JsonObject } from '../../protocol/index.js';

/** A tool that the model asked for. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** As the model wrote it, before the tool's schema has made anything of it. */
  readonly input: Json;
  /** Why it cannot be executed, in words for the model: no such tool, or input that does not fit. */
  readonly error: string | null;
}

/** Tokens; what the provider did not count is 0. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
}

/** What one round with a model came to. It is JSON and can be stored. */
export interface Completion {
  /** All text of the round. */
  readonly content: string;
  /** Its thoughts, null where it showed none. */
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  /** Null where the provider did not count. */
  readonly usage: Usage | null;
  /**
   * The AI SDK messages to put behind the given ones for the next round, what providers want back (signatures) included.
   * Where there are `toolCalls`, one message of their results comes after them: `toolResults` makes it.
   */
  readonly messages: readonly Json[];
}

/** A step's output is this completion: what is deeper inside it than this could not be stored. */
const MAX_INNER_DEPTH = 48;
/** Characters of what a model is told was wrong with its call. */
const MAX_ERROR = 2000;

/** The same value as JSON that can be stored inside a completion; undefined where it is none. */
export function storable(value: unknown): Json | undefined {
  try {
    const clean = cleanJson(value);
    return jsonDepth(clean) <= MAX_INNER_DEPTH ? clean : undefined;
  } catch {
    return undefined;
  }
}

/** A sentence for the model, no longer than it needs. */
export const clipped = (text: string): string => wellFormed(text.slice(0, MAX_ERROR));

/** The SDK's count of a round. */
export function usageOf({ inputTokens, outputTokens, totalTokens, ...details }: LanguageModelUsage): Usage | null {
  const all = [inputTokens, outputTokens, totalTokens];
  if (all.every((tokens) => tokens === undefined)) return null;
  const { reasoningTokens } = details.outputTokenDetails;
  const { cacheReadTokens } = details.inputTokenDetails;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    totalTokens: totalTokens ?? (inputTokens ?? 0) + (outputTokens ?? 0),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cacheReadTokens === undefined ? {} : { cachedInputTokens: cacheReadTokens }),
  };
}

/**
 * What the model said as messages for the next round, and nothing but what it said: the SDK answers calls that do not fit
 * by itself, but each call is answered once, by whoever executes them.
 */
export function storableMessages(messages: readonly ModelMessage[]): Json[] {
  return messages
    .filter(({ role }) => role === 'assistant')
    .map((message) => {
      const parts = Array.isArray(message.content) ? message.content : [{ type: 'text', text: message.content }];
      return { role: 'assistant', content: parts.map(storablePart).filter((part) => part !== null) };
    });
}

/** The part; a tool call whose input cannot be stored stays as a call without, or its result would belong to nothing. */
function storablePart(part: object): JsonObject | null {
  const whole = storable(part);
  if (whole !== undefined) return whole as JsonObject;
  if (!('toolCallId' in part)) return null;
  return (storable({ ...part, input: {} }) as JsonObject | undefined) ?? null;
}
