import { assistantId as assistantIdSchema, parse, type Json } from '../protocol/index.js';
import type { Context } from './context.js';

/** The code that answers a turn. It runs unchanged inside the server process or in an agent. */
export interface Assistant {
  readonly assistantId: string;
  readonly name: string;
  /**
   * Answers one frame. What it returns is the frame's output; what it throws ends the frame as failed. When
   * `ctx.abortSignal` fires, nothing it does is taken any more.
   */
  readonly run: (ctx: Context) => Promise<Json | void> | Json | void;
}

/** @throws {ChatError} `bad_request` for an id that the protocol does not allow */
export function defineAssistant(definition: { assistantId: string; name?: string; run: Assistant['run'] }): Assistant {
  const assistantId = parse(assistantIdSchema, definition.assistantId, ['assistantId']);
  return { assistantId, name: definition.name ?? assistantId, run: definition.run };
}
