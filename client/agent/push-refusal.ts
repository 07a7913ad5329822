import { ChatError, op as opSchema, parse, type Op, type OpInput } from '../../protocol/index.js';
import type { Piece } from './push-line.js';

/** @throws {ChatError} `bad_request` with `details.index` */
export function parseOp(candidate: OpInput, index: number): Op {
  try {
    return parse(opSchema, candidate, ['ops', index]);
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    throw new ChatError(error.code, error.message, { details: { ...error.details, index }, cause: error });
  }
}

/** Refusals of what was pushed; any other says that the frame is not ours to write. */
export const isOfContent = ({ code }: ChatError): boolean =>
  code === 'bad_request' || code === 'payload_too_large' || code === 'unsupported';

/** Refusals of a call that its caller has to hear: its own open calls are too many, and to wait for them may be for ever. */
export const isOfCall = ({ code }: ChatError): boolean => code === 'queue_full';

/** Refusals that say that the frame has ended, or is another's. */
export const isLost = ({ code }: ChatError): boolean => code === 'turn_ended' || code === 'stale_attempt';

/** The piece that holds the op of this index, and how many ops stand before it. */
export function pieceAt(pieces: readonly Piece[], index: unknown): { piece: Piece; before: number } | null {
  let before = 0;
  for (const piece of pieces) {
    if (typeof index === 'number' && index >= before && index < before + piece.ops.length) return { piece, before };
    before += piece.ops.length;
  }
  return null;
}

/** The error with its index counted from the caller's own first op. */
export function indexedFrom(error: ChatError, before: number): ChatError {
  const { index } = error.details;
  if (typeof index !== 'number' || before === 0) return error;
  return new ChatError(error.code, error.message, {
    details: { ...error.details, index: index - before },
    cause: error,
  });
}
