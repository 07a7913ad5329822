import * as z from 'zod';

/** DAT-3: the bounds that `hello.limits` announces. Sizes are bytes of UTF-8 JSON. */
export const limits = z.object({
  maxFrameBytes: z.int(),
  maxMessageBytes: z.int(),
  maxTurnBytes: z.int(),
  maxMessagesPerTurn: z.int(),
  maxInputMessages: z.int(),
  maxPageBytes: z.int(),
  maxQueuedTurns: z.int(),
});
export type Limits = z.infer<typeof limits>;

const MiB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  maxFrameBytes: MiB,
  maxMessageBytes: 4 * MiB,
  maxTurnBytes: 32 * MiB,
  maxMessagesPerTurn: 10_000,
  maxInputMessages: 100,
  maxPageBytes: MiB,
  maxQueuedTurns: 16,
};

/** Background turns of one chat that may be waiting or running (TRN-3). */
export const MAX_PARALLEL_TURNS = 16;
/** Frames below the root that a turn's call stack may have. */
export const MAX_STACK_DEPTH = 32;
/** Calls of one turn that may be open at a time: each holds its input, and what its host was given. */
export const MAX_OPEN_CALLS = 1000;
/** Pushes that an agent keeps unacknowledged (AGT-6). */
export const MAX_PUSHES_IN_FLIGHT = 32;
