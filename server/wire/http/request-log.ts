import type { RequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp } from 'pino-http';
import type { IdSource } from '../../id-source.js';
import type { Log } from '../../log.js';

const PROBES = /^\/(healthz|readyz|metrics)(\?|$)/;
/** What a proxy may call a request: short, and nothing that could forge a line in some log. */
const GIVEN_ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * One line per request when it has been answered, and an id in `x-request-id` that joins it with what else is logged.
 *
 * Lines hold method, path and status. Bodies, headers and queries are what people say, or who they are: they are never
 * logged. Probes are not worth a line.
 */
export function createRequestLog(log: Log, ids: IdSource): RequestHandler {
  return pinoHttp<IncomingMessage, ServerResponse, 'audit'>({
    logger: log,
    genReqId(request, response) {
      const given = request.headers['x-request-id'];
      const id = typeof given === 'string' && GIVEN_ID.test(given) ? given : ids.id();
      response.setHeader('x-request-id', id);
      return id;
    },
    autoLogging: { ignore: ({ url = '' }) => PROBES.test(url) },
    customAttributeKeys: { req: 'http', res: 'answer', responseTime: 'ms' },
    wrapSerializers: false,
    serializers: {
      http: ({ id, method, url = '' }: IncomingMessage) => ({ id, method, path: url.split('?', 1)[0] }),
      answer: ({ statusCode }: ServerResponse) => ({ status: statusCode }),
    },
    customLogLevel: (_request, { statusCode }) => (statusCode < 500 ? 'info' : statusCode === 503 ? 'warn' : 'error'),
    customSuccessMessage: () => 'answered',
    customErrorMessage: () => 'answered',
    // Why it failed was logged where it was caught; the library would make up an error of its own.
    customErrorObject: (_request, response, _error, { ms }: { ms: number }) => ({ answer: response, ms }),
  });
}
