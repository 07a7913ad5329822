import type { Json, JsonObject } from '../json.js';
import type { AgUiMessage } from './message.js';

/** The version of AG-UI that this speaks. */
export const AG_UI_VERSION = '1.0';

/** One step of a JSON Patch (RFC 6902). */
export type PatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** What a run cost, as AG-UI counts it. */
export interface AgUiUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
}

interface OfMessage {
  readonly messageId: string;
}

interface OfToolCall {
  readonly toolCallId: string;
}

/** The events of AG-UI that a chat is told in: a part of the protocol's own union, closed. */
export type AgUiEvent =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome?:
        { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] } | { readonly type: 'cancelled' };
      readonly usage?: readonly AgUiUsage[];
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly AgUiUsage[];
      readonly metadata?: JsonObject;
    }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | {
      readonly type: 'MESSAGES_SNAPSHOT';
      readonly messages: readonly AgUiMessage[];
      readonly metadata: JsonObject;
    }
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: JsonObject }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly PatchStep[] }
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_START'; readonly role: 'user' | 'assistant'; readonly name?: string })
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly delta: string })
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_END' })
  | (OfMessage & { readonly type: 'REASONING_START' })
  | (OfMessage & { readonly type: 'REASONING_MESSAGE_START'; readonly role: 'reasoning' })
  | (OfMessage & { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly delta: string })
  | (OfMessage & { readonly type: 'REASONING_MESSAGE_END' | 'REASONING_END' })
  | (OfToolCall & {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallName: string;
      readonly parentMessageId: string;
      readonly metadata?: JsonObject;
    })
  | (OfToolCall & { readonly type: 'TOOL_CALL_ARGS'; readonly delta: string })
  | (OfToolCall & { readonly type: 'TOOL_CALL_END' })
  | (OfToolCall &
      OfMessage & {
        readonly type: 'TOOL_CALL_RESULT';
        readonly role: 'tool';
        readonly content: string;
        readonly metadata?: JsonObject;
      })
  | (OfMessage & { readonly type: 'ACTIVITY_SNAPSHOT'; readonly activityType: string; readonly content: JsonObject })
  | (OfMessage & {
      readonly type: 'ACTIVITY_DELTA';
      readonly activityType: string;
      readonly patch: readonly PatchStep[];
    })
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: Json };
