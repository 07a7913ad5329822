import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { ChatError, ERRORS, tooLarge } from '../../../protocol/index.js';
import type { Log } from '../../log.js';
import { asChatError } from '../as-chat-error.js';

/** Answers with an error: status from the one table, the body of section 7, never a stack. */
function sendError(response: Response, error: ChatError): void {
  const { status } = ERRORS[error.code];
  if (error.retryAfterMs !== undefined) response.set('retry-after', String(Math.ceil(error.retryAfterMs / 1000)));
  if (status === 401) response.set('www-authenticate', 'Bearer');
  response.status(status).json({ error: error.body() });
}

/** What is asked for is nowhere. */
export const answerNotFound: RequestHandler = (_request, response) => sendError(response, new ChatError('not_found'));

/** The path exists, the method does not: 404 of the table, with the methods that there are. */
export const answerOtherMethods =
  (methods: readonly string[]): RequestHandler =>
  (request, response) => {
    response.set('allow', methods.join(', '));
    if (request.method === 'OPTIONS') response.status(204).end();
    else sendError(response, new ChatError('not_found', `Here one can ${methods.join(', ')}.`));
  };

/** The last stop of whatever was thrown. */
export const answerErrors =
  (maxFrameBytes: number, log: Log): ErrorRequestHandler =>
  (thrown: unknown, request, response, _next) => {
    // An answer that has begun cannot become an error: cut it off, so that nobody takes it for whole.
    if (response.headersSent) response.destroy();
    else sendError(response, refusal(thrown, maxFrameBytes) ?? asChatError(thrown, log, { http: { id: request.id } }));
  };

/** What dispatch refused, as it is; what the libraries in front of it refuse by status, in our words: theirs quote bodies and paths. */
function refusal(thrown: unknown, maxFrameBytes: number): ChatError | null {
  if (thrown instanceof ChatError) return thrown;
  if (thrown instanceof URIError) return new ChatError('bad_request', 'The address is not well encoded.');
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined;
  if (status === 413) return tooLarge(...boundOf(thrown, maxFrameBytes));
  if (status === 415) return new ChatError('unsupported', 'This encoding of a body is not supported.');
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ChatError('bad_request', 'The body cannot be read as JSON.');
  return null;
}

/** The bound that a body met: some routes take more than a frame. */
function boundOf(thrown: unknown, maxFrameBytes: number): [limit: string, max: number] {
  const met = thrown instanceof Error && 'limit' in thrown ? thrown.limit : undefined;
  return typeof met === 'number' && met !== maxFrameBytes ? ['maxBodyBytes', met] : ['maxFrameBytes', maxFrameBytes];
}
