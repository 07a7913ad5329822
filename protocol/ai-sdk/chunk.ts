import type { JsonObject } from '../json.js';

/** The majors of the AI SDK whose clients are understood. */
export const UI_MAJORS = [5, 6, 7] as const;
export type UiMajor = (typeof UI_MAJORS)[number];
export const CURRENT_MAJOR: UiMajor = 7;

/** What stands beside a part: where it is found here. */
export interface PartOrigin {
  readonly turnstream: JsonObject;
}

interface ToolNamed {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly dynamic?: true;
  readonly providerExecuted?: true;
}

interface ToolOutput {
  readonly toolCallId: string;
  readonly dynamic?: true;
  readonly providerExecuted?: true;
}

/**
 * The chunks of a UI message stream that are sent: a part of those that the AI SDK knows. Its clients refuse a stream
 * with any other type as a whole, so what has no chunk of its own is a `data-…`.
 */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: JsonObject }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: 'text-start' | 'reasoning-start'; readonly id: string; readonly providerMetadata: PartOrigin }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'text-end' | 'reasoning-end'; readonly id: string }
  | ({ readonly type: 'tool-input-start' } & ToolNamed)
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | ({
      readonly type: 'tool-input-available';
      readonly input: unknown;
      readonly providerMetadata: PartOrigin;
    } & ToolNamed)
  | ({ readonly type: 'tool-input-error'; readonly input: unknown; readonly errorText: string } & ToolNamed)
  | ({ readonly type: 'tool-output-available'; readonly output: unknown; readonly preliminary?: true } & ToolOutput)
  | ({ readonly type: 'tool-output-error'; readonly errorText: string } & ToolOutput)
  | {
      readonly type: 'file';
      readonly url: string;
      readonly mediaType: string;
      readonly providerMetadata: PartOrigin;
    }
  | {
      readonly type: 'source-url';
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
      readonly providerMetadata: PartOrigin;
    }
  | {
      readonly type: 'source-document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
      readonly providerMetadata: PartOrigin;
    }
  | {
      readonly type: `data-${string}`;
      readonly id?: string;
      readonly data: unknown;
      readonly transient?: true;
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: JsonObject }
  | UiTerminator;

/** The last chunk of a stream: there is exactly one, whatever the end. */
type UiTerminator =
  | { readonly type: 'finish'; readonly finishReason: 'stop'; readonly messageMetadata: JsonObject }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'error'; readonly errorText: string };

export const isTerminator = ({ type }: UiChunk): boolean => type === 'finish' || type === 'abort' || type === 'error';
