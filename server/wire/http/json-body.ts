import { json, type Request, type RequestHandler } from 'express';
import { ChatError } from '../../../protocol/index.js';

/**
 * Bodies: JSON only, at most `maxFrameBytes` after inflating, so that a small body that unpacks to a huge one stops at the
 * bound. A body too large is read off and thrown away before the answer, since a client that is still sending may not
 * listen; its time is bounded by the server's `requestTimeout`.
 *
 * Every method is held to it, those that look at no body too: what is malformed is refused wherever it comes.
 */
export const jsonBody = (maxFrameBytes: number): RequestHandler[] => [
  requireJson,
  json({ limit: maxFrameBytes, strict: true, type: () => true }),
];

const requireJson: RequestHandler = (request, _response, next) => {
  if (hasBody(request) && !request.is('application/json'))
    throw new ChatError('unsupported', 'A body has to be application/json.');
  next();
};

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || !['0', undefined].includes(headers['content-length']);
