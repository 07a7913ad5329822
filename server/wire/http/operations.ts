import { Router, type RequestHandler } from 'express';
import helmet from 'helmet';
import { Registry } from 'prom-client';
import swaggerUi from 'swagger-ui-express';
import type { Metrics } from '../../metrics.js';
import { describeSockets } from '../describe/asyncapi.js';
import { describeHttp } from '../describe/openapi.js';

/** Whether the server can take work at present. Each is true when it is well, but `draining`. */
export interface Health {
  readonly store: boolean;
  readonly log: boolean;
  readonly journal: boolean;
  /** The server was told to stop. */
  readonly draining: boolean;
}

export interface OperationsNeeds {
  /** Answers within a second or so, however the store feels; it does not reject. */
  readonly health: () => Health | Promise<Health>;
  readonly metrics: Pick<Metrics, 'scrape'>;
  readonly serverVersion: string;
}

/**
 * What operators and tools ask for, without an identity: none of it tells of a chat or a person.
 *
 * `/healthz` says that the process answers, and nothing else: a server whose store is down must not be restarted for it.
 * `/readyz` says whether to send work here.
 */
export function createOperations({ health, metrics, serverVersion }: OperationsNeeds): Router {
  const router = Router({ caseSensitive: true });
  router.get('/healthz', (_request, response) => {
    response.json({ alive: true });
  });
  router.get('/readyz', async (_request, response) => {
    const { store, log, journal, draining } = await health();
    const ready = store && log && journal && !draining;
    response.status(ready ? 200 : 503).json({ ready, checks: { store, log, journal, draining } });
  });
  router.get('/metrics', async (_request, response) => {
    response.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await metrics.scrape());
  });
  const openapi = once(() => describeHttp(serverVersion));
  router.get('/openapi.json', answerWith(openapi));
  router.get(
    '/asyncapi.json',
    answerWith(() => describeSockets(serverVersion)),
  );
  router.use('/docs', docsPolicy, docsOf(openapi));
  return router;
}

/** Made and encoded when somebody first asks: the documents do not change while the server runs. */
function answerWith(document: () => object): RequestHandler {
  const json = once(() => JSON.stringify(document()));
  return (_request, response) => void response.type('json').send(json());
}

function docsOf(openapi: () => object): RequestHandler {
  const router = once(() => {
    const options = { swaggerOptions: { validatorUrl: null }, customSiteTitle: 'Turnstream API' };
    return Router().use(...swaggerUi.serveFiles(openapi(), options), swaggerUi.setup(openapi(), options));
  });
  return (request, response, next) => router()(request, response, next);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The page of `/docs` comes from this server alone, offline too; its widgets write styles into their elements. */
const docsPolicy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
});
