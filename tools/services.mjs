// What tests need beside this program: PostgreSQL and Redis. Takes those that answer, starts what is missing for the time
// of this process, and says in one line each what it has found, started or not got.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { canStartContainer, startContainer } from './container.mjs';
import { canMakeCluster, makeCluster } from './postgres-cluster.mjs';
import { canMakeRedis, makeRedis } from './redis-server.mjs';

/** From the start of a service until it must answer. */
const START_MS = 60_000;
const POLL_MS = 100;

const say = (line) => process.stderr.write(`turnstream: ${line}\n`);

/** `start` gives the address of a service that may not answer yet; it ends with this process. */
const postgres = {
  name: 'PostgreSQL',
  variable: 'TEST_POSTGRES_URL',
  usual: 'postgresql://postgres@127.0.0.1:5432/postgres',
  answers: async (url) => {
    // Not at the top: this file is read before packages are there.
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  },
  waysToStart: [
    {
      from: 'the programs of this machine',
      isThere: canMakeCluster,
      async start() {
        const cluster = await makeCluster();
        process.once('exit', () => cluster.remove());
        await cluster.start();
        return cluster.url;
      },
    },
    {
      from: 'docker compose',
      isThere: () => canStartContainer('postgres'),
      start: async () => `postgresql://turnstream:turnstream@${await startContainer('postgres', 5432)}/turnstream`,
    },
  ],
};

const redis = {
  name: 'Redis',
  variable: 'TEST_REDIS_URL',
  usual: 'redis://127.0.0.1:6379',
  answers: (url) =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port || 6379), hostname);
      const done = (answer) => {
        socket.destroy();
        resolve(answer);
      };
      socket.setTimeout(2_000, () => done(false));
      socket.on('error', () => done(false));
      socket.on('connect', () => socket.write('PING\r\n'));
      // One that asks for a password answers too.
      socket.on('data', (answer) => done(/^(\+PONG|-NOAUTH)/.test(answer)));
    }),
  waysToStart: [
    {
      from: 'the programs of this machine',
      isThere: canMakeRedis,
      async start() {
        const server = await makeRedis();
        process.once('exit', () => server.remove());
        await server.start();
        return server.url;
      },
    },
    {
      from: 'docker compose',
      isThere: () => canStartContainer('redis'),
      start: async () => `redis://${await startContainer('redis', 6379)}`,
    },
  ],
};

async function answersSoon({ answers }, url) {
  const end = performance.now() + START_MS;
  while (performance.now() < end) {
    if (await answers(url)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** @returns its address, or undefined */
async function startFirst(service) {
  for (const way of service.waysToStart) {
    if (!(await way.isThere())) continue;
    try {
      const url = await way.start();
      if (await answersSoon(service, url)) {
        say(`${service.name}: started from ${way.from}`);
        return url;
      }
      say(`${service.name}: started from ${way.from}, it does not answer`);
    } catch (error) {
      say(`${service.name}: cannot be started from ${way.from}: ${error.message}`);
    }
  }
  return undefined;
}

/** @returns the address; '' where there is none */
async function addressOf(service) {
  const named = process.env[service.variable];
  const url = named ?? service.usual;
  if (url !== '' && (await service.answers(url))) {
    say(`${service.name}: found at ${named === undefined ? 'its usual port' : service.variable}`);
    return url;
  }
  // Whoever has named one means that one.
  const started = named === undefined ? await startFirst(service) : undefined;
  if (started === undefined)
    say(`${service.name}: none${named ? ` at ${service.variable}` : ''}; its tests are left out`);
  return started ?? '';
}

/**
 * Brings the services there and their addresses into the environment: tests are told by it what to leave out.
 * @returns the names of those that are missing
 */
export async function bringServices() {
  const missing = [];
  for (const service of [postgres, redis]) {
    const url = await addressOf(service);
    process.env[service.variable] = url;
    if (url === '') missing.push(service.name);
  }
  return missing;
}
