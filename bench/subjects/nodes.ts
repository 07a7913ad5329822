import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canMakeCluster, makeCluster } from '../../tools/postgres-cluster.mjs';
import { canMakeRedis, makeRedis } from '../../tools/redis-server.mjs';
import { Neighbours } from '../machine.js';
import type { Trial } from '../trials.js';
import { PostgresMeter, RedisMeter } from './services.js';
import { Subject } from './subject.js';
import type { TurnstreamOptions } from './turnstream.js';

/** What some work has cost each process; nodes in the order in which they were started. */
export interface Spent {
  readonly nodeMicros: readonly number[];
  readonly redisMicros: number;
  readonly postgresMicros: number;
  readonly redisIn: number;
  readonly redisOut: number;
  readonly redisMemory: number;
  /** What came to Redis in one go counts once. */
  readonly redisReads: number;
  readonly redisCalls: ReadonlyMap<string, number>;
  /** Bytes of PostgreSQL's log of changes. */
  readonly logBytes: number;
}

/**
 * How often a running turn's chat was recorded: once for each flush, whatever it held. An append that was joined to others is an
 * event with them, so that this counts the events of a stream, too.
 */
export const flushesIn = ({ redisCalls }: Spent): number => redisCalls.get('persist') ?? 0;

/** Commands that Redis was given, those within scripts too. */
export const callsIn = ({ redisCalls }: Spent): number =>
  [...redisCalls.values()].reduce((sum, count) => sum + count, 0);

/** Of a node that shares nothing. */
const OWN_DATABASE = 'own';

interface Services {
  readonly redisUrl: string;
  readonly databaseUrl: (name: string) => string;
  /** For the data of nodes. */
  readonly folder: string;
  /** Ends both, and deletes all that they and the nodes have written. */
  end(): void;
}

async function startServices(): Promise<Services> {
  const folder = mkdtempSync(join(tmpdir(), 'turnstream-bench-nodes-'));
  const cluster = await makeCluster();
  const redis = await makeRedis();
  const end = (): void => {
    process.off('exit', end);
    redis.remove();
    cluster.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  // In case that this process ends before it is told.
  process.once('exit', end);
  await redis.start();
  await cluster.start();
  return {
    ...{ folder, end, redisUrl: redis.url },
    databaseUrl: (name) => Object.assign(new URL(cluster.url), { pathname: `/${name}` }).href,
  };
}

/** Nodes with a Redis and a PostgreSQL of their own, so that whatever these do is done for them. */
export class NodesUnderTest {
  readonly #nodes: Subject[] = [];

  private constructor(
    private readonly services: Services,
    readonly redis: RedisMeter,
    readonly postgres: PostgresMeter,
  ) {}

  /** Whether this machine has the programs. */
  static canStart(): boolean {
    return canMakeCluster() && canMakeRedis();
  }

  static async start(): Promise<NodesUnderTest> {
    const services = await startServices();
    const redis = await RedisMeter.open(services.redisUrl);
    return new NodesUnderTest(services, redis, await PostgresMeter.open(services.databaseUrl('postgres')));
  }

  /** One more node; the first makes the database. @param isAlone a node of its own: without Redis */
  async node(name: string, { isAlone = false, env = {}, ...options }: NodeOptions = {}): Promise<Subject> {
    const { redisUrl, databaseUrl, folder } = this.services;
    const where = isAlone
      ? { DATABASE_URL: databaseUrl(OWN_DATABASE) }
      : { DATABASE_URL: databaseUrl('shared'), REDIS_URL: redisUrl };
    const roomy = { MAX_SUBSCRIPTIONS_PER_CONNECTION: '100000' };
    // One that is killed cannot delete its data.
    const dataDir = mkdtempSync(join(folder, 'node-'));
    const node = await Subject.start(name, 'turnstream', { ...options, dataDir, env: { ...where, ...roomy, ...env } });
    this.#nodes.push(node);
    return node;
  }

  /** A meter that looks into the database of the node that has its own. */
  ownDatabase(): Promise<PostgresMeter> {
    return PostgresMeter.open(this.services.databaseUrl(OWN_DATABASE));
  }

  /** Stops a node, or forgets one that was killed. */
  async without(node: Subject): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(node), 1);
    await node.stop();
  }

  async trial<T>(work: () => Promise<T>): Promise<Trial<{ readonly done: T; readonly spent: Spent }>> {
    const neighbours = new Neighbours();
    const before = await this.#look();
    const began = performance.now();
    const done = await work();
    const ms = performance.now() - began;
    const after = await this.#look();
    const redisCalls = new Map([...after.calls].map(([name, count]) => [name, count - (before.calls.get(name) ?? 0)]));
    redisCalls.delete('info');
    const spent: Spent = {
      nodeMicros: after.nodes.map((micros, i) => micros - (before.nodes[i] ?? 0)),
      redisMicros: after.cpuMicros - before.cpuMicros,
      postgresMicros: after.postgres - before.postgres,
      redisIn: after.bytesIn - before.bytesIn,
      redisOut: after.bytesOut - before.bytesOut,
      redisMemory: after.memoryBytes - before.memoryBytes,
      // One of them is the look itself.
      redisReads: after.reads - before.reads - 1,
      redisCalls,
      logBytes: after.logBytes - before.logBytes,
    };
    const cpuMicros = spent.nodeMicros.reduce((sum, micros) => sum + micros, spent.redisMicros + spent.postgresMicros);
    return { result: { done, spent }, cpuMicros, ms, neighbours: neighbours.cores(cpuMicros) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    this.redis.close();
    await this.postgres.close();
    this.services.end();
  }

  async #look() {
    const logBytes = await this.postgres.logBytes();
    const nodes = await Promise.all(this.#nodes.map((node) => node.cpu()));
    return { nodes, logBytes, ...(await this.redis.look()), postgres: this.postgres.cpuMicros() };
  }
}

interface NodeOptions extends TurnstreamOptions {
  readonly isAlone?: boolean;
}
