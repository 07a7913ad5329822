import { json, type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
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
): (RequestHandler | ErrorRequestHandler)[] {
  const bytesOf = new WeakMap<object, number>();
  const measure = (request: object, _response: unknown, { length }: Buffer): void => void bytesOf.set(request, length);
  const count: RequestHandler = async (request, _response, next) => {
    await countBytes(request, bytesOf.get(request) ?? 0);
    next();
  };
  const known = new WeakSet<object>();
  const begin: RequestHandler = (request, _response, next) => {
    known.add(request);
    next();
  };
  /** What cannot be read has come all the same. A request whose sender is not known did not come so far. */
  const countRefused: ErrorRequestHandler = async (error, request, _response, next) => {
    if (!known.has(request)) return next(error);
    const announced = Number(request.headers['content-length'] ?? maxFrameBytes);
    await countBytes(request, bytesOf.get(request) ?? Math.min(announced, maxFrameBytes));
    next(error);
  };
  const read = json({ limit: maxFrameBytes, strict: true, type: () => true, verify: measure });
  return [begin, requireJson, read, countRefused, count];
}

/**
 * What a body holds; it is let go of, since a request stands as long as its answer does, and a body of eight megabytes may
 * have become twenty times as much. Nobody else may ask for it.
 */
export function takeBody(request: Request): unknown {
  const body: unknown = request.body ?? {};
  request.body = undefined;
  return body;
}

const requireJson: RequestHandler = (request, _response, next) => {
  if (hasBody(request) && !request.is('application/json'))
    throw new ChatError('unsupported', 'A body has to be application/json.');
  next();
};

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || !['0', undefined].includes(headers['content-length']);
