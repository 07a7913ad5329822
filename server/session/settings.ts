import type { Limits } from '../../protocol/index.js';

/** The bounds that the domain keeps; their meanings and defaults stand in `config.ts`. */
export interface SessionSettings {
  readonly limits: Limits;
  readonly coalesceMs: number;
  readonly agentWaitMs: number;
  readonly agentGraceMs: number;
  readonly commitRetryMs: number;
  readonly maxUnsavedBytes: number;
  readonly maxTurnMs: number;
  readonly maxChatsPerUser: number;
  readonly drainMs: number;
  /** How long a chat's log is kept after its last event. */
  readonly logTtlMs: number;
}
