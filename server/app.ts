import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createChat } from '../assistant/chat.js';
import { echo } from '../assistant/echo.js';
import type { Assistant } from '../assistant/assistant.js';
import type { ChatCommands } from '../protocol/index.js';
import { loadAssistantModules } from './adapters/assistant-modules.js';
import { claimDataDirectory } from './adapters/data-directory.js';
import { openFileJournal } from './adapters/file-journal.js';
import { createMemoryLog } from './adapters/memory-log.js';
import { settlesWithin, systemClock, type Clock } from './clock.js';
import { authenticatorOf } from './app/authenticator.js';
import { openStore } from './app/databases.js';
import { openNode } from './app/nodes.js';
import { openAll, type Opened } from './app/opened.js';
import type { Cluster } from './cluster/join-cluster.js';
import { ConfigError, warningsOf, type Config } from './config.js';
import { systemIds, type IdSource } from './id-source.js';
import { createLog, type Log } from './log.js';
import { createMetrics, type Metrics } from './metrics.js';
import { createEnvironment } from './session/create-environment.js';
import { createAgentDesk } from './session/desk/agent-desk.js';
import { createDesk } from './session/desk/desk.js';
import type { Environment } from './session/environment.js';
import { Revocations } from './session/revocations.js';
import { Sessions } from './session/sessions.js';
import { SERVER_VERSION } from './version.js';
import { createAddressOf } from './wire/address.js';
import { createAdmission } from './wire/admission.js';
import { createAuditLog } from './wire/audit-log.js';
import { openIdentity, type CallerClaims } from './wire/authenticate.js';
import { ConnectionLimit } from './wire/connection-limit.js';
import { createDispatch } from './wire/dispatch.js';
import { createHttpApp } from './wire/http/app.js';
import { createOriginPolicy } from './wire/http/origins.js';
import { createHttpServer } from './wire/http/server.js';
import { NewestCopy } from './wire/newest-copy.js';
import { createRateLimit } from './wire/rate-limit.js';
import { createSocketServer } from './wire/socket-server.js';

export type { Assistant } from '../assistant/assistant.js';
export { failRunning } from '../assistant/run-assistant.js';
export { copyDatabase, migrateDatabase, type CopyOptions } from './app/databases.js';
export { ConfigError, readConfig, type Config } from './config.js';

/** What an embedding program may bring of its own. */
export interface TurnstreamOptions {
  readonly config: Config;
  /** In-process assistants beside `echo`. */
  readonly assistants?: readonly Assistant[];
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly log?: Log;
  /** False: every event goes through Socket.IO's own engine (docs/decisions/0002). */
  readonly isDirectFanOut?: boolean;
  /** Called once it has closed because the other nodes have given it up (LIF-4). */
  readonly onLost?: () => void;
}

/** A server that runs. */
export interface Turnstream {
  readonly url: string;
  readonly port: number;
  readonly metrics: Metrics;
  /**
   * Runs commands as somebody, within the process: what `stores/` is written against. Rights are checked as for anyone.
   *
   * @throws {ChatError} `bad_request` for a name that is none
   */
  as(caller: CallerClaims): ChatCommands;
  /** Refuses new turns, gives running ones `drainMs` to end, stores them, says goodbye and closes (LIF-1). */
  drain(): Promise<void>;
  /** Closes at once; running attempts stay in the journal and are ended at the next start. */
  close(): Promise<void>;
}

/** Beside the compiled server; sources have none beside them. */
const PAGES_FOLDER = join(import.meta.dirname, '..', 'web');
const HEALTH_MS = 1000;
const GOODBYE_MS = 2000;

/**
 * Starts a Turnstream server: migrates its database, takes up what a crash left, listens.
 *
 * @throws {ConfigError} a module of assistants that cannot be loaded
 * @throws {Error} a data directory that another server uses; a database that cannot be opened; a port that is taken
 */
export function createTurnstream(options: TurnstreamOptions): Promise<Turnstream> {
  return openAll((opened) => open(options, opened));
}

async function open(options: TurnstreamOptions, opened: Opened): Promise<Turnstream> {
  const {
    config,
    clock = systemClock,
    ids = systemIds,
    log = createLog(config.logLevel),
    isDirectFanOut = true,
  } = options;
  const fromModules = await assistantsOf(config);
  const metrics = createMetrics();
  const claim = claimDataDirectory(config.dataDir);
  opened.add(() => claim.release());
  const node = await openNode({ config, clock, ids, log });
  opened.add(() => node.close());
  const store = await openStore({
    url: config.databaseUrl,
    clock,
    ids,
    connections: config.databaseConnections,
    claim: node.claim,
    fences: node.fences,
    onTransaction: (kind) => metrics.storeTransactions.inc({ kind }),
    onMigrated: (names) => log.info({ migrations: names }, 'the database was migrated'),
  });
  opened.add(() => store.close());
  const journal = openFileJournal({ directory: join(config.dataDir, 'journal'), clock, log, fsyncMs: config.fsyncMs });
  opened.add(() => journal.close());
  const liveLog = createMemoryLog({
    ids,
    maxEvents: config.logMaxEvents,
    maxBytes: config.logMaxBytes,
    maxTotalBytes: config.logMaxTotalBytes,
  });
  const assistants = [echo, ...chatOf(config), ...fromModules, ...(options.assistants ?? [])];
  const { env, agents } = createEnvironment({
    clock,
    ids,
    log,
    metrics,
    store,
    journal,
    liveLog,
    assistants,
    settings: config,
    safekeeping: node.safekeeping,
  });
  const sessions = new Sessions(env, node.holdings);
  opened.add(() => sessions.close());
  const revocations = await Revocations.load(store, clock);
  const local = {
    desk: createDesk(env, sessions, revocations),
    agentDesk: createAgentDesk(env, sessions, agents),
  };
  const lost = async (): Promise<void> => {
    log.fatal('the other nodes have given this one up: it ends, and may be started anew');
    await opened.close().catch((error: unknown) => log.error({ err: error }, 'not everything could be closed'));
    options.onLost?.();
  };
  const cluster = await node.join({ env, sessions, agents, revocations, ...local, onLost: () => void lost() });
  opened.add(() => cluster.leave());
  opened.add(async () => {
    await settlesWithin(clock, env.writes.idle(), HEALTH_MS);
    env.writes.close();
  });
  const { desk, agentDesk } = cluster;
  await cluster.takeUpAll();

  const audit = createAuditLog(log);
  const dispatch = createDispatch({ desk, agentDesk, audit, metrics, clock, log });
  const rateLimit = createRateLimit(
    {
      commandsPerSecond: config.rateLimitPerSecond,
      bytesPerSecond: config.rateLimitBytesPerSecond,
      attemptsPerSecond: config.rateLimitPerAddress,
    },
    node.counters,
  );
  const authenticator = authenticatorOf(config, { revocations, clock, log });
  const admission = createAdmission({ authenticator, rateLimit, audit, log });
  const addressOf = createAddressOf(config.trustProxy, () =>
    log.warn('X-Forwarded-For is not believed: if this server is behind a proxy, TRUST_PROXY has to name it'),
  );
  const connectionLimit = new ConnectionLimit(config.maxConnectionsPerUser);
  const origins = createOriginPolicy({
    corsOrigins: config.corsOrigins,
    loopbackOnly: config.authMode === 'none' && !config.allowInsecure,
    onRefused: (origin) =>
      log.warn(
        { origin: origin.slice(0, 200) },
        'pages of this origin are refused: to let them in, name it in CORS_ORIGINS',
      ),
  });
  const http = createHttpApp({
    dispatch,
    admission,
    addressOf,
    revocations,
    rateLimit,
    origins,
    health: () => healthOf(env, cluster),
    connectionLimit,
    metrics,
    log,
    clock,
    ids,
    settings: {
      maxFrameBytes: config.maxFrameBytes,
      maxMessageBytes: config.limits.maxMessageBytes,
      maxOutboxBytes: config.maxOutboxBytes,
      pagesFolder: config.pages ? PAGES_FOLDER : null,
      imageOrigins: config.pagesImageOrigins,
    },
    serverVersion: SERVER_VERSION,
    defaultAssistantId: defaultOf(assistants),
  });
  const server = createHttpServer(http.handle, {
    maxConnections: config.maxConnections,
    slowestMs: config.commitRetryMs,
  });
  const sockets = createSocketServer(server, {
    dispatch,
    desk,
    agentDesk,
    admission,
    addressOf,
    revocations,
    rateLimit,
    connectionLimit,
    starts: new NewestCopy(),
    origins,
    assistants: (tenantId) => env.hosts.list(tenantId),
    limits: config.limits,
    authGraceMs: config.authGraceMs,
    maxOutboxBytes: config.maxOutboxBytes,
    maxSubscriptionsPerConnection: config.maxSubscriptionsPerConnection,
    maxHandshakesPerAddress: config.maxHandshakesPerAddress,
    allowPolling: config.allowPolling,
    isDirectFanOut,
    serverVersion: SERVER_VERSION,
    metrics,
    clock,
    log,
  });
  metrics.beforeScrape(() => metrics.outboxBytes.set(sockets.outboxBytes + http.outboxBytes));
  opened.add(async () => {
    sockets.shutDown();
    http.endStreams();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await settlesWithin(clock, closed, GOODBYE_MS);
    sockets.close();
    server.closeAllConnections();
  });
  await listen(server, config.port, config.host);
  for (const warning of warningsOf(config)) log.warn(warning);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    port,
    metrics,
    as(claims) {
      const caller = { identity: openIdentity({ ...claims }), from: { address: 'in-process' } };
      // The table gives each command its result; dispatch is the same for all of them.
      // What is given out is a copy: nobody's change to it is one of ours.
      return { call: async (name, args) => structuredClone(await dispatch.command(name, caller, args)) as never };
    },
    close: () => opened.close(),
    async drain() {
      env.gate.drain();
      cluster.beginLeaving();
      await sessions.drain();
      await opened.close();
    },
  };
}

/** Who answers where nobody is named: the model that the settings name, else the first assistant that was given, else echo. */
const defaultOf = (assistants: readonly Assistant[]): string | undefined =>
  (assistants.find(({ assistantId }) => assistantId !== echo.assistantId) ?? assistants[0])?.assistantId;

/** The assistant that the settings describe, where they name a model. */
const chatOf = ({ model, openaiBaseUrl, openaiApiKey }: Config): Assistant[] =>
  model === undefined ? [] : [createChat({ baseUrl: openaiBaseUrl, apiKey: openaiApiKey, model })];

/** @throws {ConfigError} a module that cannot be loaded, or exports no assistant, or one that another has too */
async function assistantsOf({ assistants }: Config): Promise<Assistant[]> {
  const loaded = await loadAssistantModules<Assistant>(assistants).catch((cause: unknown) => {
    throw new ConfigError('ASSISTANTS', cause instanceof Error ? cause.message : String(cause));
  });
  const twice = loaded.find(
    ({ assistantId }, index) => loaded.findIndex((one) => one.assistantId === assistantId) < index,
  );
  if (twice) throw new ConfigError('ASSISTANTS', `two assistants are called ${twice.assistantId}`);
  return loaded;
}

async function healthOf({ store, journal, gate, clock }: Environment, cluster: Cluster) {
  const isStoreUp = await settlesWithin(clock, store.ping(), HEALTH_MS).catch(() => false);
  return { store: isStoreUp, log: cluster.isHealthy, journal: journal.healthy, draining: gate.isDraining };
}

function listen(server: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException): void =>
      reject(error.code === 'EADDRINUSE' ? new Error(`port ${port} of ${host} is taken; set PORT`) : error);
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      resolve();
    });
  });
}
