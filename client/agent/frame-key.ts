import type { Assignment } from '../../protocol/index.js';

/** One stack of one attempt of a turn: what one run of an assistant writes. */
export interface FrameKey {
  readonly requestId: string;
  readonly attempt: number;
  readonly stackId: string;
}

export const frameKeyOf = ({ turn, stackId }: Assignment): FrameKey => ({
  requestId: turn.requestId,
  attempt: turn.attempt,
  stackId,
});

export const frameName = ({ requestId, attempt, stackId }: FrameKey): string => `${requestId}/${attempt}/${stackId}`;
