import { parseArgs } from 'node:util';
import * as z from 'zod';
import { capacityOf } from '../capacity/capacity.js';
import { costs } from '../capacity/costs.js';
import { workloadOf, type Workload } from '../capacity/workload.js';
import { figure, format, type Table } from '../report.js';
import type { ClusterOptions } from './cluster-options.js';
import { simulateDeath } from './death.js';
import { simulateRedisAway } from './redis-away.js';
import { simulateRollingRestart, type Balancing } from './rolling-restart.js';
import { simulateStreams } from './streams.js';

/** A cluster of the calculator's answer, unless told otherwise. */
const given = z.object({
  connections: z.coerce.number().int().min(100).max(2_000_000).default(100_000),
  nodes: z.coerce.number().int().min(2).max(2_000).optional(),
  redisShards: z.coerce.number().int().min(1).max(1_000).default(1),
  postgresCores: z.coerce.number().int().min(1).max(1_000).default(16),
  tokensPerSecond: z.coerce.number().positive().default(40),
  seconds: z.coerce.number().positive().default(2),
  seed: z.coerce.number().int().default(1),
});

interface Scene {
  readonly cluster: ClusterOptions;
  readonly workload: Workload;
  readonly seconds: number;
}

const SCENES: Readonly<Record<string, (scene: Scene) => Table>> = {
  streams: (scene) => streamsTable(scene, {}),
  skew: (scene) => streamsTable(scene, { followersOfOne: Math.round(scene.cluster.connections / 10) }),
  death: deathTable,
  'redis-away': redisAwayTable,
  'rolling-restart': rollingRestartTable,
};

/** Simulates a cluster, and prints what has become of it. @throws {Error} in one line that says what of the arguments is wrong */
export function printSimulation(args: readonly string[]): void {
  const text = { type: 'string' as const };
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ connections: text, nodes: text, 'redis-shards': text, 'postgres-cores': text },
      ...{ 'tokens-per-second': text, seconds: text, seed: text },
    },
  });
  const { data: asked, error } = given.safeParse({
    ...values,
    redisShards: values['redis-shards'],
    postgresCores: values['postgres-cores'],
    tokensPerSecond: values['tokens-per-second'],
  });
  if (!asked) throw new Error(`simulate: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`);
  const { connections, redisShards, postgresCores, tokensPerSecond } = asked;
  const workload = workloadOf({ connections, redisShards, postgresCores, tokensPerSecond });
  const { nodes, rates } = capacityOf(workload, costs);
  const cluster: ClusterOptions = {
    ...{ seed: asked.seed, nodes: asked.nodes ?? Math.max(2, nodes), connections, redisShards, postgresCores },
    chats: Math.round(rates.ownedChats),
    runningShare: rates.runningTurns / rates.ownedChats,
    // Of the turns of the last ten minutes, half of them in chats that are followed.
    eventsPerRecord: Math.round((rates.events * workload.logTtlSeconds) / rates.ownedChats),
    remoteShare: workload.remoteShare,
  };
  for (const name of positionals.length > 0 ? positionals : Object.keys(SCENES)) {
    const scene = SCENES[name];
    if (!scene) throw new Error(`simulate: there is no ${name}; there are ${Object.keys(SCENES).join(', ')}`);
    console.log(`${format(scene({ cluster, workload, seconds: asked.seconds }))}\n`);
  }
}

const titleOf = (what: string, { connections, nodes, redisShards }: ClusterOptions): string =>
  `${what}: ${connections.toLocaleString('en-US')} connections, ${nodes} nodes, ${redisShards} Redis`;

/** A result's figures as rows, those within under both names. */
function rowsOf(result: object, prefix = ''): string[][] {
  return Object.entries(result).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? rowsOf(value, `${prefix}${name}.`)
      : [[prefix + name, figure(Number(value))]],
  );
}

function streamsTable({ cluster, workload, seconds }: Scene, more: { followersOfOne?: number }): Table {
  const { seed, nodes, redisShards } = cluster;
  const { tokensPerSecond, coalesceMs, followersPerChat, reconnectsPerUserHour, opensPerUserHour } = workload;
  const result = simulateStreams(
    {
      ...{ seed, nodes, redisShards, tokensPerSecond, coalesceMs, followersPerChat, seconds, roundTripMs: 0.3 },
      chats: Math.round(cluster.chats * cluster.runningShare),
      // A chat is followed until another is opened: has its follower come back at another node before?
      driftShare: reconnectsPerUserHour / (reconnectsPerUserHour + opensPerUserHour),
      ...more,
    },
    costs,
  );
  const title = more.followersOfOne === undefined ? 'streams' : `one chat with ${more.followersOfOne} followers`;
  return { title: titleOf(title, cluster), columns: ['figure', 'a second'], rows: rowsOf(result) };
}

function deathTable({ cluster }: Scene): Table {
  return beside(titleOf('a node dies', cluster), {
    'others take every chat': simulateDeath({ ...cluster, taking: 'every chat' }, costs),
    'a share each': simulateDeath({ ...cluster, taking: 'a share' }, costs),
  });
}

/** Results of several variants beside each other. */
function beside(title: string, variants: Readonly<Record<string, object>>): Table {
  const columns = Object.values(variants).map((result) => rowsOf(result));
  const rows = (columns[0] ?? []).map(([name = ''], row) => [name, ...columns.map((cells) => cells[row]?.[1] ?? '')]);
  return { title, columns: ['figure', ...Object.keys(variants)], rows };
}

function redisAwayTable({ cluster }: Scene): Table {
  const away = { ...cluster, awayMs: 5_000, spreadMs: 0 };
  return beside(titleOf('Redis is away for 5 s', cluster), {
    'all chats begin an epoch': simulateRedisAway({ ...away, epochs: 'of all chats' }, costs),
    '… asked over 30 s': simulateRedisAway({ ...away, epochs: 'of all chats', spreadMs: 30_000 }, costs),
    'chats that speak do': simulateRedisAway({ ...away, epochs: 'of chats that speak' }, costs),
  });
}

function rollingRestartTable({ cluster }: Scene): Table {
  const restart = { ...cluster, stepSeconds: 30, retryAfterMs: 1_000 };
  const at = (balancing: Balancing, spreadMs: number) =>
    simulateRollingRestart({ ...restart, balancing, spreadMs }, costs);
  return beside(titleOf('rolling restart, a node in 30 s', cluster), {
    'at random, 0.25 s': at('at random', 250),
    'at random, 10 s': at('at random', 10_000),
    'better of two, 0.25 s': at('better of two', 250),
    'better of two, 10 s': at('better of two', 10_000),
    'least connections, 0.25 s': at('least connections', 250),
    'least connections, 10 s': at('least connections', 10_000),
  });
}
