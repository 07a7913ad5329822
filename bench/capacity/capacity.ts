import type { Costs } from './costs.js';
import { demandOf, type Demand } from './demand.js';
import { ratesOf, type Rates } from './rates.js';
import type { Workload } from './workload.js';

/** Of one resource, how much is used of what there is. */
interface Use {
  readonly resource: Resource;
  /** 1: all that should be used of it. */
  readonly share: number;
}

export type Resource =
  | 'Redis cores'
  | 'Redis core for leases and counters'
  | 'Redis memory'
  | 'Redis network'
  | 'PostgreSQL cores'
  | 'PostgreSQL connections'
  | 'a year of 32-bit ids';

export interface Capacity {
  /** Nodes that run, those that may be missing among them. */
  readonly nodes: number;
  readonly nodesFor: { readonly cores: number; readonly memory: number; readonly connections: number };
  readonly rates: Rates;
  readonly demand: Demand;
  /** What nodes share, the most used first: more nodes do not help there. */
  readonly uses: readonly Use[];
}

const GIB = 2 ** 30;
const BITS = 8;
const IDS_SHOULD_LAST_DAYS = 365;
/** More nodes than that are no answer: what they say to each other grows with the square of their number. */
export const MAX_NODES = 100_000;

/** How many nodes the workload needs, and what of all that they share is used most. */
export function capacityOf(workload: Workload, costs: Costs): Capacity {
  // What a node does depends on how many there are: the least number that can do its work.
  let working = Math.max(1, Math.ceil(workload.connections / workload.maxConnections));
  for (;;) {
    const { cores, memory, connections } = nodesFor(workload, costs, working);
    const needed = Math.min(MAX_NODES, Math.max(cores, memory, connections));
    if (needed <= working) break;
    // Half of the way: the work may grow with each node, and is not to be overshot.
    working = Math.max(working + 1, Math.ceil((working + needed) / 2));
  }
  const nodes = working + workload.nodesLost;
  const demand = demandOf(workload, costs, nodes);
  return {
    nodes,
    nodesFor: nodesFor(workload, costs, working),
    rates: ratesOf(workload, nodes),
    demand,
    uses: usesOf(workload, demand),
  };
}

/** How many nodes must work, where so many do and those that may be missing are there too: they are told what all are told. */
function nodesFor(workload: Workload, costs: Costs, working: number): Capacity['nodesFor'] {
  const nodes = working + workload.nodesLost;
  const { nodeCores, nodeBytes } = demandOf(workload, costs, nodes);
  const ownBytes = costs.nodeBytesAlone + workload.logMaxTotalBytes;
  const roomBytes = workload.nodeMemoryGiB * GIB * workload.targetUtilisation - ownBytes;
  return {
    cores: Math.ceil(nodeCores / workload.targetUtilisation),
    memory: roomBytes > 0 ? Math.ceil(((nodeBytes - ownBytes) * nodes) / roomBytes) : MAX_NODES,
    connections: Math.ceil(workload.connections / workload.maxConnections),
  };
}

function usesOf(workload: Workload, demand: Demand): readonly Use[] {
  const { targetUtilisation: target, redisShards: shards } = workload;
  const bytesPerSecond = Math.max(demand.redisReceivedBytesPerSecond, demand.redisSentBytesPerSecond);
  const shares: Record<Resource, number> = {
    'Redis cores': demand.redisCores / (shards * target),
    'Redis core for leases and counters': demand.redisCoresUndivided / target,
    'Redis memory': demand.redisBytes / (shards * workload.redisMemoryGiB * GIB * target),
    'Redis network': (bytesPerSecond * BITS) / (shards * workload.redisBandwidthGbit * 1e9 * target),
    'PostgreSQL cores': demand.postgresCores / (workload.postgresCores * target),
    'PostgreSQL connections': demand.postgresConnections / workload.postgresConnections,
    'a year of 32-bit ids': IDS_SHOULD_LAST_DAYS / demand.daysOfIds,
  };
  const uses = Object.entries(shares).map(([resource, share]) => ({ resource: resource as Resource, share }));
  return uses.sort((a, b) => b.share - a.share);
}

/** For each thing that nodes share, the number of connections at which it is used up, all else alike; the first limit first. */
export function limitsOf(workload: Workload, costs: Costs): readonly { resource: Resource; connections: number }[] {
  const shareAt = (resource: Resource, connections: number): number =>
    capacityOf({ ...workload, connections }, costs).uses.find((use) => use.resource === resource)?.share ?? 0;
  return usesOf(workload, demandOf(workload, costs, 2))
    .map(({ resource }) => ({ resource, connections: crossing((connections) => shareAt(resource, connections)) }))
    .sort((a, b) => a.connections - b.connections);
}

const MOST_CONNECTIONS = 100_000_000;

/** The number of connections, to the percent, up to which the share is no more than 1. */
function crossing(shareAt: (connections: number) => number): number {
  if (shareAt(MOST_CONNECTIONS) <= 1) return Infinity;
  let [low, high] = [1, MOST_CONNECTIONS];
  while (high / low > 1.01 && high - low > 1) {
    const middle = Math.round(Math.sqrt(low * high));
    if (shareAt(middle) <= 1) low = middle;
    else high = middle;
  }
  return low;
}
