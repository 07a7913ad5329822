import { ChatError, ERROR_CODES, tooLarge, utf8Bytes, type ErrorCode } from '../protocol/index.js';

/**
 * Errors that begin in the client and not on the server. They are ChatErrors like any other; `details.reason` tells them
 * apart from the server's.
 */
export type LocalReason = 'unreachable' | 'connection_lost' | 'no_answer' | 'closed' | 'token_failed';

/** The connection could not be made, in the transport's words. */
export const unreachable = (message: string, cause?: unknown): ChatError =>
  new ChatError('internal', `The server cannot be reached: ${message}.`, { details: { reason: 'unreachable' }, cause });

/** The connection went while a command that must not be sent twice was waiting for its answer. */
export const connectionLost = (why: string): ChatError =>
  new ChatError('internal', `The connection was lost before the answer came: ${why}.`, {
    details: { reason: 'connection_lost' },
  });

/** C52: no acknowledgement came in time. Whether the command was done is not known. */
export const noAnswer = (command: string, timeoutMs: number): ChatError =>
  new ChatError('internal', `${command} was not answered within ${timeoutMs} ms.`, {
    details: { reason: 'no_answer', timeoutMs },
  });

/** The client was closed; nothing is sent any more. */
export const clientClosed = (cause?: ChatError | null): ChatError =>
  new ChatError(cause?.code ?? 'internal', cause?.message ?? 'The client is closed.', {
    details: { ...cause?.details, reason: 'closed' },
    cause,
  });

/** The function that gives tokens failed. */
export const tokenFailed = (cause: unknown): ChatError =>
  cause instanceof ChatError
    ? cause
    : new ChatError('internal', 'No token could be had.', { details: { reason: 'token_failed' }, cause });

/** More commands wait for a connection than the client holds back. */
export const offlineQueueFull = (max: number): ChatError =>
  new ChatError('queue_full', `Offline, and ${max} commands are waiting already.`, {
    details: { limit: 'maxQueuedCommands', max },
  });

/** Bytes that Socket.IO puts around a command: types, namespace, acknowledgement id. */
const ENVELOPE_BYTES = 32;

/** Size of the frame that carries a command, in bytes. */
export const frameBytes = (command: string, args: unknown): number =>
  utf8Bytes(JSON.stringify([command, args])) + ENVELOPE_BYTES;

/** @throws {ChatError} payload_too_large: a frame that the server would refuse, or close the connection for (C10) */
export function assertFrame(bytes: number, maxFrameBytes: number): void {
  if (bytes > maxFrameBytes) throw tooLarge('maxFrameBytes', maxFrameBytes, { bytes });
}

const isErrorCode = (code: unknown): code is ErrorCode => ERROR_CODES.includes(code as ErrorCode);

/** The error that a body from the server stands for. A code that a newer server made becomes `internal`, with its name in the details. */
export function errorFrom(body: unknown): ChatError {
  if (body === null || typeof body !== 'object')
    return new ChatError('internal', 'The server refused without a reason.');
  const { code, message, retryAfterMs, details } = body as Record<string, unknown>;
  return new ChatError(isErrorCode(code) ? code : 'internal', typeof message === 'string' ? message : undefined, {
    details: { ...(typeof details === 'object' ? details : {}), ...(isErrorCode(code) ? {} : { code }) },
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  });
}
