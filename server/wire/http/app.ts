import cors from 'cors';
import express, { Router, type Express, type Request, type RequestHandler } from 'express';
import helmet from 'helmet';
import { ChatError } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { IdSource } from '../../id-source.js';
import type { Log } from '../../log.js';
import type { Metrics } from '../../metrics.js';
import type { Revocations } from '../../session/revocations.js';
import type { AddressOf } from '../address.js';
import { createAgUiRoutes } from '../ag-ui/routes.js';
import type { Admission } from '../admission.js';
import { VERSION_HEADER } from '../ai-sdk/major.js';
import { createAiSdkRoutes } from '../ai-sdk/routes.js';
import type { ConnectionLimit } from '../connection-limit.js';
import type { Dispatch } from '../dispatch.js';
import type { RateLimit } from '../rate-limit.js';
import { createCallers } from './callers.js';
import { answerErrors, answerNotFound } from './errors.js';
import { jsonBody } from './json-body.js';
import { createOperations, type Health } from './operations.js';
import { createPages, type PagesSettings } from './pages.js';
import { askerOf, type OriginPolicy } from './origins.js';
import { createRequestLog } from './request-log.js';
import { createRoutes } from './routes.js';
import { createEventStreams } from './server-sent-events.js';
import { createTurnStreams } from './turn-streams.js';

export interface HttpAppNeeds {
  readonly dispatch: Dispatch;
  readonly admission: Admission;
  readonly addressOf: AddressOf;
  readonly revocations: Pick<Revocations, 'mustStand' | 'watch'>;
  readonly rateLimit: Pick<RateLimit, 'command' | 'bytes'>;
  readonly origins: OriginPolicy;
  readonly health: () => Health | Promise<Health>;
  /** An event stream counts as a connection of its user. */
  readonly connectionLimit: Pick<ConnectionLimit, 'take'>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly settings: PagesSettings & {
    readonly maxFrameBytes: number;
    readonly maxMessageBytes: number;
    readonly maxOutboxBytes: number;
  };
  readonly serverVersion: string;
  /** Who answers where a frontend names nobody, in a chat that comes into being with its first question. */
  readonly defaultAssistantId?: string | undefined;
}

export interface HttpApp {
  /** For `createHttpServer`. */
  readonly handle: Express;
  /** What waits for the readers of event streams, for `turnstream_outbox_bytes`. */
  readonly outboxBytes: number;
  /** LIF-1: ends the event streams that are open, each once what waits for it is sent, at the latest after 2 s; opens no more. */
  endStreams(): void;
}

/** A stock client of the AI SDK sends the whole conversation each time, of which the last message alone is looked at. */
const HISTORY_FACTOR = 8;

/**
 * Section 8 over Express: whatever comes is answered, every error as JSON by the one table, never with a stack or a word
 * of what was sent.
 *
 * The order of the layers is their meaning: a request has an id before anything can fail; where it comes from is looked
 * at before who sends it; who sends it before what it says, so that a stranger's body is not even read.
 */
export function createHttpApp(needs: HttpAppNeeds): HttpApp {
  const { dispatch, rateLimit, origins, log, settings } = needs;
  const callers = createCallers(needs);
  const streams = createEventStreams({ ...needs, ...settings, callers });
  const turnStreams = createTurnStreams({ ...needs, ...settings, callers });

  const api = Router({ caseSensitive: true });
  const countBytes = (request: Request, bytes: number): Promise<void> =>
    rateLimit.bytes(callers.of(request).identity, bytes);
  // The body may have taken half a minute to come.
  const stillStands: RequestHandler = (request, _response, next) => {
    needs.revocations.mustStand(callers.of(request).identity);
    next();
  };
  api.use('/v1', noStore, callers.identify);
  api.use('/v1/ai-sdk', ...jsonBody(HISTORY_FACTOR * settings.maxFrameBytes, countBytes));
  api.use('/v1', ...jsonBody(settings.maxFrameBytes, countBytes), stillStands);
  api.use(
    streams.router,
    createAgUiRoutes({ dispatch, callers, turnStreams }),
    createAiSdkRoutes({ ...needs, ...settings, callers, turnStreams }),
    createRoutes(dispatch, callers),
  );

  const app = express();
  app.disable('x-powered-by');
  // Answers are of the moment; hashing each of them would buy nothing.
  app.disable('etag');
  // Queries are read by arguments.ts, strictly.
  app.set('query parser', false);
  app.use(
    createRequestLog(log, needs.ids),
    securityHeaders,
    wellEncoded,
    fromKnownPlaces(origins),
    sharedWith(origins),
  );
  app.use(createOperations(needs), createPages(settings), api);
  app.use(answerNotFound);
  app.use(answerErrors(settings.maxFrameBytes, log));
  return {
    handle: app,
    get outboxBytes() {
      return streams.waitingBytes + turnStreams.waitingBytes;
    },
    endStreams() {
      streams.endAll();
      turnStreams.endAll();
    },
  };
}

/**
 * An answer of this server is data: nothing in it may be run, framed or guessed at. Whether all traffic has to be
 * encrypted (HSTS) is for the proxy to say that ends TLS.
 */
const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
});

const noStore: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store');
  next();
};

/** Broken percent-encoding is refused on every path, known or not (C53). */
const wellEncoded: RequestHandler = (request, _response, next) => {
  decodeURIComponent(request.originalUrl);
  next();
};

/** C51: what another site's page sends is refused unless its origin is allowed; it could not read the answer, but it could write. */
const fromKnownPlaces =
  (origins: OriginPolicy): RequestHandler =>
  (request, _response, next) => {
    const asker = askerOf(request.headers);
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!origins.answersTo(asker))
      throw new ChatError('forbidden', 'This server is for this machine alone: it asks nobody who they are.');
    if (!reads && !origins.admits(asker)) throw new ChatError('forbidden', 'Pages of this origin may not write here.');
    next();
  };

/** Answers preflights of allowed origins and lets their pages read; never `*`, so that credentials may be sent along. */
const sharedWith = (origins: OriginPolicy): RequestHandler =>
  cors({
    origin: (origin, decide) => decide(null, origin !== undefined && origins.allows(origin)),
    credentials: true,
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'idempotency-key',
      'last-event-id',
      'x-request-id',
      'x-user-id',
      'x-team-id',
      'x-tenant-id',
      'x-roles',
      VERSION_HEADER,
    ],
    exposedHeaders: ['x-request-id', 'retry-after'],
    maxAge: 600,
  });
