import { onTestFinished } from 'vitest';
import type { Cluster } from '../../tools/postgres-cluster.mjs';
import { Balancer } from '../harness/balancer.js';
import { gauge } from '../harness/metric.js';
import { Nodes } from '../harness/nodes.js';
import { PostgresBeside } from '../harness/postgres-beside.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { readyBut } from '../harness/readiness.js';
import { startRedis, type RedisServer } from '../harness/redis-server.js';
import type { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';
import { pause } from './pause.js';
import { readStored, type Stored } from './rows.js';
import type { Ground, Misfortune, Topology, Which } from './topology.js';

const NODES = 3;
/** A node is declared dead 9 to 12 s after its last beat, and beats every 3 s: within this it is not, by `LOST_MS` it is. */
export const HELD_MS = 5_000;
export const LOST_MS = 13_500;

interface Node {
  readonly server: ServerProcess;
  /** Between it and Redis. */
  readonly network: Proxy;
}

/**
 * Three nodes on a PostgreSQL and a Redis of their own, behind a balancer: whoever connects again is at another node. They
 * die, stop and are cut off, and so do PostgreSQL and Redis.
 */
export class ThreeNodes implements Topology {
  readonly isSpread = true;
  readonly patienceMs = 45_000;
  readonly usualLines = [
    // While PostgreSQL is away.
    /a turn has ended and could not be stored yet/,
    /an attempt could not be prepared/,
    // While Redis is away.
    /chats cannot be recorded for other nodes at present/,
    /this node was declared dead by the others/,
    /the other nodes have given this one up/,
  ];
  #ground!: Ground;
  #redis!: RedisServer;
  #databaseUrl = '';
  #balancer!: Balancer;
  #nodes: readonly Node[] = [];
  /** Those that nothing befalls at present, never none; and where the balancer sends who connects. */
  readonly #up = new Set<Node>();
  readonly #open: string[] = [];
  #isUp: Promise<void> = Promise.resolve();

  /** @param cluster a PostgreSQL that may be stopped */
  constructor(
    private readonly env: Readonly<Record<string, string>>,
    private readonly cluster: Cluster,
  ) {}

  get url(): string {
    return this.#balancer.url;
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ server }) => server.url);
  }

  get output(): string {
    return this.#nodes.map(({ server }) => server.output.trimEnd()).join('\n');
  }

  async begin(ground: Ground): Promise<void> {
    this.#ground = ground;
    this.#redis = await startRedis();
    const nodes = new Nodes(this.#redis.url, this.cluster.url);
    this.#databaseUrl = nodes.env['DATABASE_URL'] as string;
    const start = async (): Promise<Node> => {
      const network = await Proxy.to(this.#redis.url, asBytes);
      const REDIS_URL = network.url.replace('http', 'redis');
      return { server: await nodes.process({ ...this.env, REDIS_URL }), network };
    };
    // The first one makes the tables.
    this.#nodes = [await start(), ...(await Promise.all(Array.from({ length: NODES - 1 }, start)))];
    for (const node of this.#nodes) this.#isBack(node);
    this.#balancer = await Balancer.over(this.#open);
    onTestFinished(() => this.#balancer.close());
  }

  ready(): Promise<void> {
    return this.#isUp;
  }

  befall(misfortune: Misfortune): Promise<void> {
    switch (misfortune.do) {
      case 'nodeEnd':
        return this.#end(misfortune.which, misfortune.signal, misfortune.downMs);
      case 'nodesKill':
        return this.#killAll(misfortune.downMs);
      case 'nodeStop':
        return this.#stop(misfortune.which, misfortune.ms);
      case 'redisEmpty':
        return this.#emptyRedis(misfortune.downMs);
      case 'redisCut':
        return this.#cut(misfortune.which, misfortune.ms);
      case 'postgresStop':
        return this.#stopPostgres(misfortune.ms);
      default:
        throw new Error(`${misfortune.do} befalls one server`);
    }
  }

  heal(): void {
    // Everything that befalls nodes has its time, and is over by itself.
  }

  stored(): Promise<Stored> {
    return readStored(new PostgresBeside(this.#databaseUrl));
  }

  // What befalls nodes

  async #end(which: Which, signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<void> {
    const ground = this.#ground;
    const node = await this.#goes(which);
    if (!node) return;
    if (signal === 'SIGKILL') ground.crash('all');
    const code = await node.server.signal(signal);
    if (signal === 'SIGTERM' && code !== 0) ground.fault(`LIF-1: a node ended with ${code}`);
    ground.trace(`${this.#nameOf(node)} has ended (${signal})`);
    ground.beginLife();
    const coming = ground.comeBack();
    await pause(downMs);
    await node.server.start();
    await this.#isWell([node]);
    await coming;
  }

  async #killAll(downMs: number): Promise<void> {
    const ground = this.#ground;
    let isUp = (): void => undefined;
    this.#isUp = new Promise((resolve) => (isUp = resolve));
    ground.crash('all');
    await Promise.all(this.#nodes.map(({ server }) => server.kill()));
    ground.trace('all nodes have ended');
    ground.beginLife();
    await pause(downMs);
    await Promise.all(this.#nodes.map(({ server }) => server.start()));
    ground.trace('all nodes are up again');
    isUp();
    await ground.comeBack();
    await this.#isWell(this.#nodes);
  }

  async #stop(which: Which, ms: number): Promise<void> {
    const ground = this.#ground;
    const node = await this.#goes(which);
    if (!node) return;
    if (ms >= LOST_MS) ground.crash('all');
    process.kill(node.server.pid, 'SIGSTOP');
    ground.trace(`${this.#nameOf(node)} is stopped`);
    ground.beginLife();
    await pause(ms);
    await this.#isAmongOthers(node, ms, () => process.kill(node.server.pid, 'SIGCONT'));
  }

  async #cut(which: Which, ms: number): Promise<void> {
    const ground = this.#ground;
    const node = await this.#goes(which);
    if (!node) return;
    const isLost = ms >= LOST_MS;
    if (isLost) {
      ground.crash('all');
      ground.expose();
    }
    const { network } = node;
    network.isUp = false;
    network.cut();
    ground.trace(`${this.#nameOf(node)} is cut off from Redis`);
    await pause(Math.min(ms, HELD_MS));
    // From now on frames that it has given away may be given away by others once more.
    if (isLost) ground.beginLife();
    await pause(Math.max(0, ms - HELD_MS));
    await this.#isAmongOthers(node, ms, () => (network.isUp = true));
    if (isLost) {
      ground.crash('all');
      ground.shelter();
    }
  }

  async #emptyRedis(downMs: number): Promise<void> {
    await this.#redis.kill();
    this.#ground.trace('Redis is away');
    await pause(downMs);
    await this.#redis.start();
    this.#ground.trace('Redis is back with nothing');
    await this.#isWell(this.#nodes);
  }

  async #stopPostgres(ms: number): Promise<void> {
    await this.cluster.stop('immediate');
    this.#ground.trace('PostgreSQL is away');
    await pause(ms);
    await this.cluster.start();
    this.#ground.trace('PostgreSQL is back');
    await this.#isWell(this.#nodes);
  }

  // Who is there

  /** A node that the others do without for a while: the balancer sends it nobody. Null: it would be the last one. */
  async #goes(which: Which): Promise<Node | null> {
    const up = [...this.#up];
    const node = which === 'busiest' ? await busiestOf(up) : up[Math.floor(which * up.length)];
    if (!node || !this.#up.has(node) || this.#up.size === 1) return null;
    this.#up.delete(node);
    this.#open.splice(this.#open.indexOf(node.server.url), 1);
    return node;
  }

  /** It goes on; where the others have given it up, as another node. */
  async #isAmongOthers(node: Node, awayMs: number, goOn: () => void): Promise<void> {
    const lives = (): number => node.server.output.split('Turnstream listening').length;
    const before = lives();
    goOn();
    this.#ground.trace(`${this.#nameOf(node)} goes on`);
    if (awayMs >= LOST_MS) await until(() => lives() > before, 'a node that was given up joins again', this.patienceMs);
    await this.#isWell([node]);
    this.#ground.beginLife();
    await this.#ground.comeBack();
  }

  async #isWell(nodes: readonly Node[]): Promise<void> {
    for (const { server } of nodes) await readyBut(server.url);
    for (const node of nodes) this.#isBack(node);
    this.#ground.trace(`well: ${nodes.map((node) => this.#nameOf(node)).join(', ')}`);
  }

  #isBack(node: Node): void {
    this.#up.add(node);
    if (!this.#open.includes(node.server.url)) this.#open.push(node.server.url);
  }

  #nameOf(node: Node): string {
    return `node ${this.#nodes.indexOf(node)}`;
  }
}

/** The one in which most turns run. */
async function busiestOf(nodes: readonly Node[]): Promise<Node | undefined> {
  const counted = nodes.map(async (node) => ({ node, turns: await gauge(node.server.url, 'turns_active') }));
  return (await Promise.all(counted)).sort((a, b) => b.turns - a.turns)[0]?.node;
}
