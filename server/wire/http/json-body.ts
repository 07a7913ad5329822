import { json, type Request, type RequestHandler } from 'express';
import { ChatError } from '../../../protocol/index.js';

/**
 * Bodies: JSON only, at most `maxFrameBytes` after inflating, so that a small body that unpacks to a huge one stops at the
 * bound. A body too large is read off and thrown away before the answer, since a client that is still sending may not
 * listen; its time is bounded by the server's `requestTimeout`.
 *
 * Every method is held to it, those that look at no body too: what is malformed is refused wherever it comes.
 */
export function jsonBody(
  maxFrameBytes: number,
  countBytes: (request: Request, bytes: number) => Promise<void>,
): RequestHandler[] {
  const bytesOf = new WeakMap<object, number>();
  const count: RequestHandler = async (request, _response, next) => {
    const bytes = bytesOf.get(request) ?? 0;
    if (bytes > 0) await countBytes(request, bytes);
    next();
  };
  const measure = (request: object, _response: unknown, { length }: Buffer): void => void bytesOf.set(request, length);
  return [requireJson, json({ limit: maxFrameBytes, strict: true, type: () => true, verify: measure }), count];
}

const requireJson: RequestHandler = (request, _response, next) => {
  if (hasBody(request) && !request.is('application/json'))
    throw new ChatError('unsupported', 'A body has to be application/json.');
  next();
};

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || !['0', undefined].includes(headers['content-length']);
