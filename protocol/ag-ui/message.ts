import type { JsonObject } from '../json.js';

/** A part of what a user said that is not a text alone. */
export type AgUiPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio' | 'video' | 'document';
      readonly source:
        | { readonly type: 'url'; readonly value: string; readonly mimeType?: string }
        | { readonly type: 'data'; readonly value: string; readonly mimeType: string };
      readonly metadata?: JsonObject;
    };

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly metadata?: JsonObject;
}

/** The messages of AG-UI that a chat's messages become: what a client makes of our events, and what snapshots hold. */
export type AgUiMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string | readonly AgUiPart[] }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly name?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
    }
  | { readonly id: string; readonly role: 'reasoning'; readonly content: string }
  | {
      readonly id: string;
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: string;
      readonly metadata?: JsonObject;
    }
  | { readonly id: string; readonly role: 'activity'; readonly activityType: string; readonly content: JsonObject };
